// A heat map of things × time on a canvas: pointer and keys walk its cells and brush an interval.

import { h, s, say, show } from "../base/dom.js";
import { heat, heatStops, rgb, spread, unspread } from "../base/colours.js";
import { inOrder, period, when } from "../base/format.js";
import { tip, untip } from "../parts/tip.js";
import { timeTicks } from "./scale.js";

const ROW = 22, LEAST_ROW = 7, TALLEST = 460;

/** Values by name and step: `{ names, first, step, columns, values: Map(name → Float64Array) }`. */
export const gridOf = (rows, key, { from, to, step }) => {
  const first = Math.floor(from / step) * step;
  const columns = Math.max(1, Math.ceil((to - first) / step));
  const values = new Map();
  for (const row of rows) {
    const name = row[key];
    if (!values.has(name)) values.set(name, new Float64Array(columns));
    const column = Math.min(columns - 1, Math.ceil((row.time - first) / step) - 1);
    if (column >= 0) values.get(name)[column] += row.rate;
  }
  const names = [...values.keys()].sort(inOrder);
  return { names, first, step, columns, values };
};

const paint = (canvas, grid, most, rowPx) => {
  const stops = heatStops();
  const scale = devicePixelRatio || 1;
  const width = canvas.clientWidth, height = rowPx * grid.names.length;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  const cell = width / grid.columns;
  grid.names.forEach((name, row) => {
    grid.values.get(name).forEach((value, column) => {
      if (!(value > 0)) return;
      pen.fillStyle = rgb(heat(spread(value, most), stops));
      pen.fillRect(column * cell, row * rowPx, cell + 0.4, rowPx - (rowPx > 9 ? 1 : 0));
    });
  });
};

/**
 * Draw a grid. `hrefOf(name)` links a row's name; `chosen` is `[from, to]` or null and `brushed(from, to)` hears a new
 * one; `picked(name)` hears a click on a row.
 */
export const heatmap = (grid, { told, label, nameOf = String, hrefOf = () => null, chosen = null, brushed, marks = [] }) => {
  const most = Math.max(0, ...[...grid.values.values()].flatMap((list) => list.reduce((a, b) => Math.max(a, b), 0)));
  const rowPx = Math.max(LEAST_ROW, Math.min(ROW, Math.floor(TALLEST / Math.max(grid.names.length, 1))));
  const end = grid.first + grid.columns * grid.step;
  const canvas = h("canvas", { style: { height: `${rowPx * grid.names.length}px` } });
  const cursor = h("div", { class: "cursor", hidden: true });
  const selection = h("div", { class: "selection", hidden: true });
  const flags = marks.map((mark) => h("a", { class: `flag ${mark.cls ?? ""}`, href: mark.href, "aria-label": mark.label, style: {
    left: `${((Math.max(mark.from, grid.first) - grid.first) / (end - grid.first)) * 100}%`,
    width: `${(Math.max(Math.min(mark.to, end) - Math.max(mark.from, grid.first), 0) / (end - grid.first)) * 100}%` } }));
  const field = h("div", { class: "field-of-heat", tabindex: "0", role: "application", "data-control": "heat", "aria-label":
    `${label}. Arrow keys walk the cells, shift and arrow keys choose an interval, Escape drops it.` }, canvas, selection, cursor);
  const state = { row: 0, column: grid.columns - 1, anchor: null };
  const clamp = (n, most_) => Math.min(Math.max(n, 0), most_);

  const left = (column) => `${(column / grid.columns) * 100}%`;
  const startOf = (column) => grid.first + column * grid.step;
  const cellAt = (event) => {
    const box = field.getBoundingClientRect();
    return [clamp(Math.floor(((event.clientX - box.left) / box.width) * grid.columns), grid.columns - 1),
      clamp(Math.floor((event.clientY - box.top) / rowPx), grid.names.length - 1)];
  };
  const mark = (from, to) => {
    selection.hidden = false;
    selection.style.left = left(from);
    selection.style.width = `${((to - from + 1) / grid.columns) * 100}%`;
  };
  const point = () => {
    cursor.hidden = false;
    Object.assign(cursor.style, { left: left(state.column), width: left(1), top: `${state.row * rowPx}px`, height: `${rowPx}px` });
  };
  const here = () => {
    const name = grid.names[state.row];
    return [nameOf(name), when(startOf(state.column)), grid.values.get(name)[state.column]];
  };
  const settle = (a, b) => {
    const [from, to] = [Math.min(a, b), Math.max(a, b)];
    mark(from, to);
    brushed?.(startOf(from), Math.min(startOf(to + 1), end));
  };

  field.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    field.setPointerCapture(event.pointerId);
    [state.column, state.row] = cellAt(event);
    state.anchor = state.column;
  });
  field.addEventListener("pointermove", (event) => {
    [state.column, state.row] = cellAt(event);
    point();
    if (state.anchor !== null) mark(Math.min(state.anchor, state.column), Math.max(state.anchor, state.column));
    const [name, time, value] = here();
    const rows = state.anchor === null ? [[time, value > 0 ? told(value) : "nothing"]]
      : [[period(startOf(Math.min(state.anchor, state.column)), startOf(Math.max(state.anchor, state.column) + 1)), ""]];
    tip(event.clientX, event.clientY, state.anchor === null ? name : "From and to", rows);
  });
  field.addEventListener("pointerup", () => {
    if (state.anchor === null) return;
    const anchor = state.anchor;
    state.anchor = null;
    settle(anchor, state.column);
  });
  field.addEventListener("pointercancel", () => { state.anchor = null; });
  field.addEventListener("pointerleave", () => { untip(); if (document.activeElement !== field) cursor.hidden = true; });
  field.addEventListener("blur", () => { cursor.hidden = true; untip(); });
  field.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Home: [-grid.columns, 0], End: [grid.columns, 0] }[event.key];
    if (event.key === "Escape") { selection.hidden = true; state.anchor = null; brushed?.(null, null); return; }
    if (!move) return;
    event.preventDefault();
    if (event.shiftKey && state.anchor === null) state.anchor = state.column;
    state.column = clamp(state.column + move[0], grid.columns - 1);
    state.row = clamp(state.row + move[1], grid.names.length - 1);
    point();
    const [name, time, value] = here();
    if (event.shiftKey) mark(Math.min(state.anchor, state.column), Math.max(state.anchor, state.column));
    const box = cursor.getBoundingClientRect();
    tip(box.right, box.bottom, name, [[time, value > 0 ? told(value) : "nothing"]]);
    say(`${name}, ${time}: ${value > 0 ? told(value) : "nothing"}`);
  });
  field.addEventListener("keyup", (event) => {
    if (event.key !== "Shift" || state.anchor === null) return;
    const anchor = state.anchor;
    state.anchor = null;
    settle(anchor, state.column);
  });

  if (chosen) mark(clamp(Math.floor((chosen[0] - grid.first) / grid.step), grid.columns - 1), clamp(Math.ceil((chosen[1] - grid.first) / grid.step) - 1, grid.columns - 1));
  const axis = h("div", { class: "axis", "aria-hidden": "true" });
  const again = () => {
    if (!canvas.clientWidth) return;
    paint(canvas, grid, most, rowPx);
    show(axis, timeTicks(grid.first, end, canvas.clientWidth).map(([t, text]) => h("span", { style: { left: `${((t - grid.first) / (end - grid.first)) * 100}%` } }, text)));
  };
  new ResizeObserver(again).observe(canvas);
  document.addEventListener("pfscope:theme", again);
  const every = Math.max(1, Math.ceil(14 / rowPx));
  const labels = h("div", { class: "heat-names" }, grid.names.map((name, i) => h("div", { style: { height: `${rowPx}px`, "line-height": `${rowPx}px` } },
    i % every ? "" : hrefOf(name) ? h("a", { href: hrefOf(name) }, nameOf(name)) : nameOf(name))));
  const whole = h("div", { class: "heat" }, labels, h("div", { class: "flags" }, flags), h("div", { class: "heat-plot" }, field, axis), scaleOf(most, told));
  whole.picture = () => canvas;
  return whole;
};

/** Which colour is how much. */
const scaleOf = (most, told) => {
  const stops = [0, 1, 2, 3, 4, 5].map((n) => s("stop", { offset: n / 5, style: { "stop-color": `var(--heat-${n})` } }));
  return h("div", { class: "heat-scale", "aria-hidden": "true" }, h("span", {}, "0"),
    s("svg", { viewBox: "0 0 120 8", width: 120, height: 8, preserveAspectRatio: "none" },
      s("defs", {}, s("linearGradient", { id: "heat-scale" }, stops)), s("rect", { width: 120, height: 8, rx: 4, fill: "url(#heat-scale)" })),
    h("span", {}, told(most)), h("span", {}, most > 0 ? `(its middle: ${told(unspread(0.5, most))})` : null));
};

