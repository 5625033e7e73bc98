// Lines over time: as wide as the page is, drawn again where that changes, with a reader that tells
// all values at one time.

import { h, s, show } from "../base/dom.js";
import { when } from "../base/format.js";
import { tip, untip } from "../parts/tip.js";
import { linear, ticks, timeTicks } from "./scale.js";

const LEFT = 62, RIGHT = 10, TOP = 10, BOTTOM = 24;

/** Points of one series on all steps: where nothing was done, there is no row and the rate is zero. */
export const onSteps = (rows, from, to, step) => {
  const first = Math.ceil((from + 1) / step) * step;
  const known = new Map(rows.map((row) => [Math.ceil(row.time / step) * step, row.rate]));
  const points = [];
  for (let at = first; at < to + step; at += step) points.push([Math.min(at, to), known.get(at) ?? 0]);
  return points;
};

const path = (points, x, y) => points.map(([t, v], i) => `${i ? "L" : "M"}${x(t).toFixed(1)} ${y(v).toFixed(1)}`).join("");

const nearest = (points, time) => {
  let low = 0, high = points.length - 1;
  while (low < high) { const mid = (low + high) >> 1; if (points[mid][0] < time) low = mid + 1; else high = mid; }
  return points[low];
};

/**
 * Draw `series` of `{ name, colour, points, dashed?, area? }` between two times; `told(value)` writes a value.
 * Returns the element; its `svg` is the picture.
 */
export const lines = (series, { from, to, told, height = 220, label, marks = [], legend = true }) => {
  const place = h("div", { class: "plot", role: "img", "aria-label": label });
  const hair = s("line", { class: "hair", y1: TOP, y2: height - BOTTOM, visibility: "hidden" });
  let x = null;
  const draw = (width) => {
    const most = Math.max(0, ...series.flatMap((one) => one.points.map(([, v]) => v)));
    const levels = ticks(most);
    x = linear(from, to, LEFT, width - RIGHT);
    const y = linear(0, levels.at(-1), height - BOTTOM, TOP);
    const grid = levels.map((v) => [s("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(v), y2: y(v) }),
      s("text", { class: "tick end", x: LEFT - 8, y: y(v) + 4 }, told(v))]);
    const times = timeTicks(from, to, width - LEFT).map(([t, text]) => s("text", { class: "tick middle", x: x(t), y: height - 6 }, text));
    const bands = marks.map((mark) => s("rect", { class: `band ${mark.cls ?? ""}`, x: x(Math.max(mark.from, from)), y: TOP,
      width: Math.max(1, x(Math.min(mark.to, to)) - x(Math.max(mark.from, from))), height: height - TOP - BOTTOM }));
    const drawn = series.map((one) => [
      one.area && s("path", { class: "area", style: { fill: one.colour }, d: `${path(one.points, x, y)}L${x(one.points.at(-1)?.[0] ?? to)} ${y(0)}L${x(one.points[0]?.[0] ?? from)} ${y(0)}Z` }),
      s("path", { class: one.dashed ? "line dashed" : "line", style: { stroke: one.colour }, d: path(one.points, x, y) })]);
    const svg = s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, bands, grid, times, drawn.reverse(), hair);
    show(place, svg);
    place.svg = svg;
  };
  place.addEventListener("pointermove", (event) => {
    if (!x) return;
    const box = place.getBoundingClientRect();
    const time = from + ((event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT)) * (to - from);
    const found = series.filter((one) => one.points.length).map((one) => [one, nearest(one.points, time)]);
    if (!found.length || time < from || time > to) { untip(); return; }
    hair.setAttribute("x1", x(found[0][1][0]));
    hair.setAttribute("x2", x(found[0][1][0]));
    hair.setAttribute("visibility", "visible");
    const rows = found.filter(([, [, v]]) => v > 0).sort((a, b) => b[1][1] - a[1][1]).slice(0, 12);
    tip(event.clientX, event.clientY, when(found[0][1][0]), rows.map(([one, [, v]]) => [one.name, told(v), one.colour]));
  });
  place.addEventListener("pointerleave", () => { untip(); hair.setAttribute("visibility", "hidden"); });
  new ResizeObserver(([entry]) => { if (entry.contentRect.width) draw(Math.max(260, entry.contentRect.width)); }).observe(place);
  const names = legend && series.length > 1 && h("ul", { class: "legend" }, series.map((one) => h("li", {},
    h("i", { class: one.dashed ? "dash" : "dot", style: { background: one.colour } }), one.href ? h("a", { href: one.href }, one.name) : one.name)));
  const whole = h("div", { class: "lines" }, place, names);
  whole.picture = () => place.svg;
  return whole;
};

/** A small line without axes. */
export const spark = (points, from, to, width = 110, height = 26) => {
  const most = Math.max(...points.map(([, v]) => v), 0);
  const x = linear(from, to, 1, width - 1);
  const y = linear(0, most || 1, height - 2, 2);
  return s("svg", { class: "spark", viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true", preserveAspectRatio: "none" },
    s("path", { class: "line", d: path(points, x, y) }));
};
