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

const isOpen = (button) => button.getAttribute("aria-expanded") === "true";

/**
 * A section with a title. `asked` is `[question, parameters]`, for CSV and the command, or a function that tells it;
 * `drawn()` returns the picture (svg or canvas) for PNG; `numbers()` a table for those who cannot see it. `renew()`
 * shows the table of what has changed since; `remark` and `content` can be shown anew.
 */
export const figure = (title, { note, asked, drawn, numbers, level = "h2", cls = "" } = {}, ...content) => {
  const details = h("div", { class: "under" });
  const question = () => (typeof asked === "function" ? asked() : asked);
  let shown = null;
  const toggle = (text, made) => h("button", { type: "button", class: "small", "aria-expanded": "false", onclick: (event) => {
    const button = event.currentTarget;
    const open = !isOpen(button);
    for (const one of tools.querySelectorAll("[aria-expanded]")) one.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-expanded", String(open));
    shown = open ? made : null;
    show(details, open ? made() : null);
  } }, text);
  const csv = asked && h("a", { class: "small", href: "#", download: `${file(title)}.csv`, onclick: () => csv.setAttribute("href", csvAddress(...question())) }, "CSV");
  if (asked && typeof asked !== "function") csv.setAttribute("href", csvAddress(...asked));
  const tools = h("div", { class: "tools" }, numbers && toggle("Table", numbers), csv,
    drawn && h("button", { type: "button", class: "small", onclick: () => toPng(drawn(), title, file(title)) }, "PNG"),
    asked && toggle("As command line", () => pasted(command(...question()))));
  const remark = h("div", {}, note && h("p", { class: "note" }, note));
  const place = h("div", {}, content);
  const whole = h("section", { class: `figure ${cls}`.trim() },
    h("div", { class: "figure-head" }, h(level, {}, title), tools), remark, place, details);
  whole.remark = remark;
  whole.content = place;
  whole.renew = () => shown && show(details, shown());
  return whole;
};
