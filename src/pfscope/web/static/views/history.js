// History: a heat map of servers or targets over time; an interval of it, brushed, is told in full.

import { h, show } from "../base/dom.js";
import { question } from "../base/api.js";
import { iso, period, rate, weekday } from "../base/format.js";
import { incidents, kindOf } from "../base/incidents.js";
import { ONE, title as metricTitle, unitOf } from "../base/metrics.js";
import { change, failure, note, title } from "../base/router.js";
import { gridOf, heatmap } from "../charts/heatmap.js";
import { stepFor } from "../charts/scale.js";
import { byList, choice, metricList, notice, spanList, spanMs, waiting } from "../parts/controls.js";
import { figure } from "../parts/figure.js";
import { addressOf, called, named } from "../parts/names.js";
import { table } from "../parts/table.js";
import { interval } from "./interval.js";

const ROWS = [["server", "Servers"], ["target", "Targets"], ["operation", "Operations"]];
const BY = ["user", "job", "node", "project", "executable"];
const PIXELS_A_CELL = 4;

const timeOf = (text) => { const found = text ? Date.parse(text) : NaN; return Number.isFinite(found) ? found : null; };

const wantedOf = (words) => ({
  rows: ROWS.some(([name]) => name === words.rows) ? words.rows : "server",
  by: BY.includes(words.by) ? words.by : "user",
  metric: words.metric && words.metric !== "load" ? words.metric : "iops",
  span: words.span ?? "1d",
  from: timeOf(words.from), to: timeOf(words.to),
  chosen: timeOf(words.a) && timeOf(words.b) ? [timeOf(words.a), timeOf(words.b)] : null,
});

/** The address keeps what is wanted, by words that people can read. */
const keep = (wanted, found) => change({ rows: wanted.rows, ...found });

const timeInput = (label, value, changed) => {
  const input = h("input", { type: "datetime-local", step: 60, onchange: () => input.value && changed(Date.parse(`${input.value}Z`)) });
  if (value) input.value = iso(value).slice(0, 16);
  return h("label", { class: "field" }, h("span", {}, label), input);
};

const toolbar = (wanted) => h("div", { class: "toolbar" },
  choice("Rows", ROWS, wanted.rows, (rows) => change({ rows })),
  metricList(wanted.metric, (metric) => change({ metric }), { load: false }),
  spanList(wanted.from ? null : wanted.span, (span) => change({ span, from: null, to: null, a: null, b: null })),
  timeInput("From (UTC)", wanted.from, (from) => keep(wanted, { from: iso(from), a: null, b: null })),
  timeInput("to (UTC)", wanted.to, (to) => keep(wanted, { to: iso(to), a: null, b: null })));

/** The question of the heat map: as many steps as there are places for them. */
const askedFor = (wanted, width) => {
  const length = wanted.from ? (wanted.to ?? Date.now()) - wanted.from : spanMs(wanted.span);
  const step = stepFor(0, length, Math.max(60, width / PIXELS_A_CELL), 60000);
  const operation = wanted.rows === "operation" ? undefined : wanted.metric;
  return [["totals", { by: wanted.rows, operation, step: `${step / 1000}s`,
    from: wanted.from ?? `-${Math.round(length / 1000)}s`, to: wanted.to }], step];
};

const asTable = (grid, wanted, unit) => table(`${metricTitle(wanted.metric)} by ${wanted.rows}`, [
  { title: ONE.get(wanted.rows), cell: (row) => named(wanted.rows, row.name), by: (row) => row.name },
  { title: "Mean", number: true, cell: (row) => rate(row.mean, unit), by: (row) => row.mean },
  { title: "Most", number: true, cell: (row) => rate(row.most, unit), by: (row) => row.most },
  { title: "When it was most", cell: (row) => weekday(row.at) + ", " + iso(row.at).slice(11, 16), by: (row) => row.at },
], grid.names.map((name) => {
  const list = [...grid.values.get(name)];
  const most = Math.max(...list);
  return { name, mean: list.reduce((a, b) => a + b, 0) / list.length, most, at: grid.first + list.indexOf(most) * grid.step };
}));

const marksOf = (list, to) => list.map((one) => ({
  from: one.start, to: one.end ?? to, cls: one.severity, href: `/incident?id=${encodeURIComponent(one.id)}`,
  label: `Incident: ${kindOf(one)}, ${period(one.start, one.end ?? to)}`,
}));

/** Show it. */
export const historyView = async (place, words, signal, ready) => {
  const wanted = wantedOf(words);
  title("History");
  const map = h("div", {}, waiting());
  const within = h("div", { class: "gap" });
  const bys = h("div", { class: "toolbar" });
  show(place, h("div", { class: "title-row" }, h("h1", {}, "History")),
    h("p", { class: "lead" }, "Drag over the map, or walk it with the arrow keys and shift, to look into an interval."),
    toolbar(wanted), map, bys, within);
  ready();
  const [asked, step] = askedFor(wanted, (map.clientWidth || 900) - 120);
  const found = await question(...asked, signal);
  if (!found.rows.length) { show(map, notice("", h("p", {}, "There is nothing to show: ", found.about.empty ?? "nothing was done", "."))); return; }
  const unit = wanted.rows === "operation" ? "requests" : found.about.unit ?? unitOf(wanted.metric);
  const rows = wanted.rows === "operation" ? found.rows.filter((row) => !row.operation?.endsWith("_bytes")) : found.rows;
  const grid = gridOf(rows, wanted.rows, { from: found.from, to: found.to, step });
  const told = await incidents({ from: found.from, to: found.to }, signal);

  let looking = null;
  const look = async (from, to) => {
    note({ a: from && iso(from), b: to && iso(to) });
    looking?.abort();
    looking = new AbortController();
    signal.addEventListener("abort", () => looking.abort());
    if (from === null) { show(within); show(bys); return; }
    wanted.chosen = [from, to];
    show(bys, byList(BY, wanted.by, (by) => { wanted.by = by; note({ by }); look(...wanted.chosen); }, "Members"));
    show(within, waiting());
    const mine = looking;
    try {
      await interval(within, { ...wanted, from, to }, mine.signal);
    } catch (error) { if (!mine.signal.aborted) show(within, failure(error)); }
  };
  const drawn = heatmap(grid, {
    told: (value) => rate(value, unit), label: `${metricTitle(wanted.metric)} of ${wanted.rows}s over time`,
    nameOf: called, hrefOf: (name) => addressOf(wanted.rows, name), chosen: wanted.chosen, brushed: look, marks: marksOf(told.list, found.to),
  });
  show(map, figure(`${wanted.rows === "operation" ? "Requests" : metricTitle(wanted.metric)} by ${wanted.rows}`, {
    asked, note: period(found.from, found.to), drawn: drawn.picture, numbers: () => asTable(grid, wanted, unit),
  }, drawn));
  if (wanted.chosen) await look(...wanted.chosen);
};
