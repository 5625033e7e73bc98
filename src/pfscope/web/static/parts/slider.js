// The time slider: what all did over the day, and a handle that shows Now as it was then.

import { h, s, show } from "../base/dom.js";
import { question } from "../base/api.js";
import { when } from "../base/format.js";
import { linear, stepFor, timeTicks } from "../charts/scale.js";

const HEIGHT = 44, POINTS = 240;
const MINUTE = 60000, DAY = 24 * 60 * MINUTE;

const barsOf = (rows, step, x) => {
  const sums = new Map();
  for (const row of rows) sums.set(row.time, (sums.get(row.time) ?? 0) + row.rate);
  const y = linear(0, Math.max(...sums.values(), 0) || 1, HEIGHT, 4);
  const width = x(step) - x(0);
  return [...sums].map(([time, value]) => s("rect", { x: (x(time) - width).toFixed(1), width: (width + 0.6).toFixed(1), y: y(value).toFixed(1), height: (HEIGHT - y(value)).toFixed(1) }));
};

/** A slider between two times; `moved(ms)` hears where it is left, and null that it should be live again. */
const slider = ({ from, to, at, live, rows, step, moved }) => {
  const x = linear(from, to, 0, 1000);
  const told = h("output", { class: "slider-time" }, live ? "now" : when(at));
  const input = h("input", { type: "range", "data-control": "time", min: from, max: to, step: MINUTE, "aria-label": "Show the time", "aria-valuetext": when(at) });
  const say = () => { show(told, when(Number(input.value))); input.setAttribute("aria-valuetext", when(Number(input.value))); };
  const leave = () => moved(live && Number(input.value) >= to - MINUTE ? null : Number(input.value));
  input.value = String(at);
  input.addEventListener("input", say);
  input.addEventListener("change", leave);
  const nudge = (minutes, text, label) => h("button", { type: "button", class: "small", "data-control": label, "aria-label": label, onclick: () => {
    input.value = String(Number(input.value) + minutes * MINUTE);
    say();
    leave();
  } }, text);
  return h("div", { class: "slider", role: "group", "aria-label": "Time" },
    h("div", { class: "slider-track" }, s("svg", { viewBox: `0 0 1000 ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" }, barsOf(rows, step, x)), input,
      h("div", { class: "axis", "aria-hidden": "true" }, timeTicks(from, to, 900).map(([t, text]) => h("span", { style: { left: `${x(t) / 10}%` } }, text)))),
    h("div", { class: "slider-buttons" }, nudge(-5, "−5 min", "Five minutes earlier"), nudge(5, "+5 min", "Five minutes later"), told,
      !live && h("button", { type: "button", class: "small strong", onclick: () => moved(null) }, "Back to now")));
};

/** A slider over the day that ends now, or of which a past time is the middle. */
export const daySlider = async ({ metric, at, newest, moved }, signal) => {
  const until = at ? Math.min(Date.now(), at + DAY / 2) : newest;
  const step = stepFor(0, DAY, POINTS);
  const asked = { by: "filesystem", operation: metric === "load" ? "iops" : metric, from: until - DAY, to: until, step: `${step / 1000}s` };
  const { rows, from, to } = await question("totals", asked, signal);
  return slider({ from, to, at: at ?? to, live: !at, rows, step, moved });
};
