// Incidents, as the server tells them; a server without a watch has none.

import { get, Refused, send, words } from "./api.js";

const ROOT = "/api/v1/incidents";
const read = (row) => ({ ...row, start: Date.parse(row.start), end: row.end === null ? null : Date.parse(row.end) });

/** Incidents in a period, the newest first; `none` says why there are none. */
export const incidents = async (parameters, signal) => {
  try {
    const list = (await get(`${ROOT}?${words(parameters)}`, signal)).incidents.map(read);
    return { list: list.sort((a, b) => b.start - a.start), none: null };
  } catch (error) {
    if (error instanceof Refused && [400, 404].includes(error.status)) {
      return { list: [], none: error.code === "not-found" ? "this server does not watch" : error.message };
    }
    throw error;
  }
};

export const incident = async (id, signal) => read(await get(`${ROOT}/${encodeURIComponent(id)}`, signal));

const take = (what) => (id, parameters) => send(`${ROOT}/${encodeURIComponent(id)}/${what}?${words(parameters)}`);
export const silence = take("silence");
export const acknowledge = take("acknowledge");

export const goesOn = (one) => one.state === "ongoing" || one.state === "unknown";
export const goesOnAt = (one, at) => (at ? one.start <= at && (one.end === null || one.end >= at) : goesOn(one));
export const KINDS = new Map([
  ["metadata_storm", "Metadata storm"], ["many_small_files", "Many small files"], ["temporary_files", "Temporary files"],
  ["python_import_storm", "Programs starting at once"], ["stat_polling", "Polling of attributes"], ["hot_file", "A hot file"],
  ["random_small_reads", "Random small reads"], ["streaming_read", "Streaming reads"],
  ["periodic_checkpoint", "Checkpoints"], ["unknown", "A change of no known kind"],
]);
export const kindOf = (one) => KINDS.get(one.kind) ?? String(one.kind ?? "unknown").replaceAll("_", " ");
