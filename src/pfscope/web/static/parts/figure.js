// What belongs to every figure: its title, its data as CSV, its picture as PNG, its question as a
// command to paste, and its numbers as a table for those who do not see it.

import { h, say, show } from "../base/dom.js";
import { command, csvAddress } from "../base/api.js";
import { toPng } from "./png.js";

const copied = async (text, button) => {
  try { await navigator.clipboard.writeText(text); } catch { return; }
  show(button, "Copied");
  say("Copied");
  setTimeout(() => show(button, "Copy"), 1500);
};

/** A command that can be copied. */
export const pasted = (text) => h("div", { class: "command" }, h("code", { tabindex: "0" }, text),
  h("button", { type: "button", class: "small", onclick: (event) => copied(text, event.currentTarget) }, "Copy"));

const file = (title) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60) || "pfscope";

/**
 * A section with a title. `asked` is `[question, parameters]`, for CSV and the command; `drawn()` returns the
 * picture (svg or canvas) for PNG; `numbers()` a table for those who cannot see it.
 */
export const figure = (title, { note, asked, drawn, numbers, level = "h2", cls = "" } = {}, ...content) => {
  const details = h("div", { class: "under" });
  const toggle = (made) => (event) => {
    const open = event.currentTarget.getAttribute("aria-expanded") === "true";
    for (const one of tools.querySelectorAll("[aria-expanded]")) one.setAttribute("aria-expanded", "false");
    event.currentTarget.setAttribute("aria-expanded", String(!open));
    show(details, open ? null : made());
  };
  const tools = h("div", { class: "tools" },
    numbers && h("button", { type: "button", class: "small", "aria-expanded": "false", onclick: toggle(numbers) }, "Table"),
    asked && h("a", { class: "small", href: csvAddress(...asked), download: `${file(title)}.csv` }, "CSV"),
    drawn && h("button", { type: "button", class: "small", onclick: () => toPng(drawn(), title, file(title)) }, "PNG"),
    asked && h("button", { type: "button", class: "small", "aria-expanded": "false", onclick: toggle(() => pasted(command(...asked))) }, "As command line"));
  return h("section", { class: `figure ${cls}`.trim() },
    h("div", { class: "figure-head" }, h(level, {}, title), tools), note && h("p", { class: "note" }, note), content, details);
};
