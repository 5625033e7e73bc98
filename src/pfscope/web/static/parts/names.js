// Names that users wrote, as text and as links to their pages; what is not told is said so.

import { address, h } from "../base/dom.js";

export const NOT_TOLD = "(not told)";

export const called = (value) => (value === null || value === undefined ? NOT_TOLD : String(value));

const LINKED = new Set(["user", "job", "project", "group", "node", "executable", "partition", "target", "server", "filesystem"]);

export const addressOf = (key, value, more = {}) => (
  LINKED.has(key) && value !== null && value !== undefined && value !== "" ? address(`/${key}`, { name: value, ...more }) : null
);

/** A name as a link to its page. */
export const named = (key, value, more) => {
  const href = addressOf(key, value, more);
  return href ? h("a", { href, class: "name" }, called(value)) : h("span", { class: "name none" }, called(value));
};

/** Several keys of one row as one text: `1001 · 11302088`. */
export const together = (keys, row) => keys.map((key) => called(row[key])).join(" · ");
