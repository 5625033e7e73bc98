// Rates of one moment: of each server who has the largest parts, and who has most of all.

import { get, words } from "./api.js";
import { inOrder, iso } from "./format.js";

export const LIVE = "/api/v1/live";
export const NOW = "/api/v1/now";
const ROWS = 15, PARTS = 12;

/** What is asked of the server: as much as is drawn, whatever the site's size. */
export const wish = ({ by, metric, at }) => words({ by, sort: metric, columns: metric === "load" ? "load,iops" : metric, limit: ROWS, parts: PARTS, at });

/** The same as a question, for CSV and the command line. */
export const asked = ({ by, metric }, { from, to }) => {
  const when = { from: iso(from), to: iso(to) };
  return metric === "load" ? ["load", { by, limit: 1000, ...when }] : ["top", { by: ["server", by], operation: metric, limit: 1000, ...when }];
};

const hiddenOf = (servers, metric) => {
  let hidden = 0, whole = 0;
  for (const { rates, unattributed } of servers) {
    const part = unattributed[metric];
    if (part === null || part === undefined) continue;
    const all = part < 1 ? (rates[metric] ?? 0) / (1 - part) : 0;
    hidden += all * part;
    whole += all;
  }
  return whole > 0 ? hidden / whole : null;
};

const serverOf = (told, metric) => ({
  name: told.server, silent: told.silent, time: told.time_us / 1000, under: told.load, estimate: told.estimate,
  total: (metric === "load" ? told.load_told : told.rates[metric]) ?? 0,
  members: (told.parts ?? []).map(([name, value]) => ({ name, value })),
});

/**
 * Read a document: `{ from, to, unit, total, members, count, servers: [{ name, total, members: [{ name, value }] }],
 * hidden, untold }`; `untold`: there is no load to show.
 */
export const readNow = (told, { metric }) => {
  const place = told.columns.indexOf(metric);
  const to = told.about.time_us / 1000;
  const interval = Math.max(...told.servers.map((server) => server.interval_s ?? 0), 1) * 1000;
  const total = told.sums[place - 1];
  return {
    from: to - interval, to, unit: told.units[metric], total: total ?? 0, untold: total === null, count: told.all_rows,
    members: told.rows.map((row) => ({ name: row[0], value: row[place] ?? 0 })).filter((member) => member.value > 0),
    servers: told.servers.map((one) => serverOf(one, metric)).sort((a, b) => inOrder(a.name, b.name)),
    hidden: hiddenOf(told.servers, metric === "load" ? "iops" : metric),
  };
};

export const nowAt = async (wanted, signal) => readNow(await get(`${NOW}?${wish(wanted)}`, signal), wanted);
