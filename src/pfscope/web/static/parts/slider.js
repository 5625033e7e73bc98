// The time slider: what all did over the day, and a handle that shows Now as it was then.

import { h, s, show } from "../base/dom.js";
import { when } from "../base/format.js";
import { linear, timeTicks } from "../charts/scale.js";

const HEIGHT = 44;

/** A slider between two times; `moved(ms)` hears where it is left, `back()` that it should be live again. */
export const slider = ({ from, to, at, live, rows, step, moved, back }) => {
  const sums = new Map();
  for (const row of rows) sums.set(row.time, (sums.get(row.time) ?? 0) + row.rate);
  const most = Math.max(...sums.values(), 0) || 1;
  const x = linear(from, to, 0, 1000), y = linear(0, most, HEIGHT, 4);
  const width = (1000 * step) / (to - from);
  const bars = [...sums].map(([time, value]) => s("rect", { x: (x(time) - width).toFixed(1), width: (width + 0.6).toFixed(1), y: y(value).toFixed(1), height: (HEIGHT - y(value)).toFixed(1) }));
  const told = h("output", { class: "slider-time" }, live ? "now" : when(at));
  const input = h("input", {
    type: "range", min: from, max: to, step: 60000, "aria-label": "Show the time", "aria-valuetext": when(at),
    oninput: () => { show(told, when(Number(input.value))); input.setAttribute("aria-valuetext", when(Number(input.value))); },
    onchange: () => (Number(input.value) >= to - 60000 && live ? back() : moved(Number(input.value))),
  });
  input.value = String(at);
  const nudge = (minutes, text, label) => h("button", { type: "button", class: "small", "aria-label": label, onclick: () => moved(Math.min(Math.max(Number(input.value) + minutes * 60000, from), to)) }, text);
  return h("div", { class: "slider", role: "group", "aria-label": "Time" },
    h("div", { class: "slider-track" }, s("svg", { viewBox: `0 0 1000 ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" }, bars), input,
      h("div", { class: "axis", "aria-hidden": "true" }, timeTicks(from, to, 900).map(([t, text]) => h("span", { style: { left: `${x(t) / 10}%` } }, text)))),
    h("div", { class: "slider-buttons" }, nudge(-5, "−5 min", "Five minutes earlier"), nudge(5, "+5 min", "Five minutes later"), told,
      !live && h("button", { type: "button", class: "small strong", onclick: back }, "Back to now")));
};

