// What the page asks of the server, and nothing beside it: every number comes through here.

import { iso } from "./format.js";

const ROOT = "/api/v1";
export const ME = `${ROOT}/me`;
export const QUERY = `${ROOT}/query`;

/** A refusal of the server, in its own words. */
export class Refused extends Error {
  constructor(status, error) {
    super(error?.message ?? `the server answered ${status}`);
    this.status = status;
    this.code = error?.code ?? "";
    this.hint = error?.hint ?? "";
  }
}

let csrf = null;
export const setCsrf = (token) => { csrf = token; };

const ask = async (path, options = {}) => {
  let answer;
  try {
    answer = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, { message: "the server cannot be reached", code: "away" });
  }
  const told = (answer.headers.get("content-type") ?? "").includes("json") ? await answer.json() : null;
  if (answer.status === 401 && path !== ME) document.dispatchEvent(new CustomEvent("pfscope:unknown"));
  if (!answer.ok) throw new Refused(answer.status, told?.error);
  return told;
};

export const get = (path, signal) => ask(path, { signal });

/** Change something on the server; `body` is an object. */
export const send = (path, body, method = "POST") => ask(path, {
  method,
  headers: { "Content-Type": "application/json", ...(csrf ? { "X-CSRF-Token": csrf } : {}) },
  body: JSON.stringify(body ?? {}),
});

/** The words of a question as a query string; times are milliseconds or text. */
export const words = (parameters) => {
  const found = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null || value === undefined || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) {
      found.append(name, (name === "from" || name === "to" || name === "at") && typeof one === "number" ? iso(one) : one);
    }
  }
  return found.toString();
};

/** A name as a pattern that fits it alone. */
export const exactly = (name) => String(name)
  .replace(/[*?[]/g, (c) => `[${c}]`).replace(/\.\.+/g, (dots) => "[.]".repeat(dots.length))
  .replace(/^!/, "[\\!]");

/** Ask a question: `{ about, rows }`, with rows as objects; times become milliseconds. */
export const question = async (name, parameters, signal) => {
  const { about, columns, rows } = await get(`${QUERY}/${name}?${words(parameters)}`, signal);
  const time = columns.indexOf("time");
  const named = rows.map((row) => {
    const one = Object.fromEntries(columns.map((column, i) => [column, row[i]]));
    if (time >= 0) one.time = Date.parse(one.time);
    return one;
  });
  return { about, columns, rows: named, from: about.from_us / 1000, to: about.to_us / 1000 };
};

/** The same, and an empty answer where the server has nothing, or no past to compare with. */
export const questionOrNone = async (name, parameters, signal) => {
  try {
    return await question(name, parameters, signal);
  } catch (error) {
    if (error instanceof Refused && (error.status === 400 || error.status === 404)) {
      return { about: {}, columns: [], rows: [], none: error.message };
    }
    throw error;
  }
};

const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${String(text).replace(/'/g, "'\\''")}'`);

/** The same question as a command to paste. */
export const command = (name, parameters) => {
  const parts = [`pfscope query ${name} --server ${location.origin}`];
  for (const [key, value] of new URLSearchParams(words(parameters))) {
    const option = key === "server" ? "lustre-server" : key.replaceAll("_", "-");
    parts.push(`--${option}${/^-/.test(value) ? "=" : " "}${quoted(value)}`);
  }
  return parts.join(" ");
};

/** An answer as a file. */
export const csvAddress = (name, parameters) => `${QUERY}/${name}?${words({ ...parameters, format: "csv" })}`;
