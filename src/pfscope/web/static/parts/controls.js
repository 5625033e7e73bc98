// Controls that most views share: which metric, by whom, how long, and bits of text.

import { h } from "../base/dom.js";
import { KEYS, METRICS } from "../base/metrics.js";

/** A list of metrics; `changed(metric)` hears the choice. */
export const metricList = (chosen, changed, { load = true } = {}) => h("label", { class: "field" }, h("span", {}, "Metric"),
  h("select", { "data-control": "metric", onchange: (event) => changed(event.target.value) }, METRICS.map(([group, list]) => h("optgroup", { label: group },
    list.filter(([name]) => load || name !== "load").map(([name, title]) => h("option", { value: name, selected: name === chosen }, title))))));

/** A few choices of which one holds. */
export const choice = (label, options, chosen, changed) => h("div", { class: "choice", role: "group", "aria-label": label },
  options.map(([value, title]) => h("button", {
    type: "button", "data-control": `${label} ${value}`, "aria-pressed": String(value === chosen), onclick: () => changed(value),
  }, title)));

/** Keys to group by. */
export const byList = (keys, chosen, changed, label = "By") => choice(label, keys.map((key) => [key, KEYS.get(key)]), chosen, changed);

export const SPANS = [["1h", "1 h", 1], ["6h", "6 h", 6], ["1d", "1 day", 24], ["7d", "7 days", 168], ["30d", "30 days", 720], ["365d", "1 year", 8760]];
export const spanMs = (name) => (SPANS.find(([value]) => value === name)?.[2] ?? 24) * 3600000;

export const spanList = (chosen, changed, more = []) => choice("Period", [...SPANS.map(([value, title]) => [value, title]), ...more], chosen, changed);

/** Numbers that stand out: `[title, value, note?]`. */
export const tiles = (list) => h("dl", { class: "tiles" }, list.filter(Boolean).map(([title, value, note]) => h("div", {},
  h("dt", {}, title), h("dd", {}, value), note && h("dd", { class: "under-tile" }, note))));

export const notice = (kind, ...content) => h("div", { class: `notice ${kind}` }, ...content);
export const waiting = (text = "Asking …") => h("p", { class: "waiting", role: "status" }, text);
