// One interval of the past in full: total, members, density, who is behind the change, and the week
// before. All of it is of exactly this interval.

import { address, h, show } from "../base/dom.js";
import { exactly, question, questionOrNone } from "../base/api.js";
import { assign, REST } from "../base/colours.js";
import { factor, iso, length, period, rate, si } from "../base/format.js";
import { KEYS, ONE, title as metricTitle, unitOf } from "../base/metrics.js";
import { failure } from "../base/router.js";
import { density } from "../charts/density.js";
import { lines, onSteps } from "../charts/lines.js";
import { stepFor } from "../charts/scale.js";
import { tiles, waiting } from "../parts/controls.js";
import { figure } from "../parts/figure.js";
import { addressOf, named } from "../parts/names.js";
import { bar, table } from "../parts/table.js";

const WEEK = 7 * 86400000;
const LINES = 8;

const stepOf = ({ from, to }) => stepFor(from, to, 200, 30000);

/** Where the members of the whole are looked for. */
const whole = (wanted) => ({ operation: wanted.metric, from: wanted.from, to: wanted.to, ...wanted.where });

const meanOf = (points) => points.reduce((sum, [, v]) => sum + v, 0) / (points.length || 1);

const totalsOf = (wanted, step) => ["totals", { by: "filesystem", ...whole(wanted), step: `${step / 1000}s` }];

/** The sum of everything on all steps. */
const sumOf = (rows, { from, to }, step) => {
  const sums = new Map();
  for (const row of rows) sums.set(row.time, (sums.get(row.time) ?? 0) + row.rate);
  return onSteps([...sums].map(([time, value]) => ({ time, rate: value })), from, to, step);
};

const totalPart = async (wanted, unit, all, signal) => {
  const step = stepOf(wanted);
  const past = { from: wanted.from - WEEK, to: wanted.to - WEEK };
  const [points, then] = await Promise.all([all, questionOrNone("totals", { ...totalsOf(wanted, step)[1], ...past }, signal)]);
  const week = then.rows.length ? sumOf(then.rows, past, step).map(([t, v]) => [t + WEEK, v]) : [];
  const told = (value) => rate(value, unit);
  const series = [{ name: "this interval", colour: "var(--accent)", points, area: true }];
  if (week.length) series.push({ name: "a week before", colour: "var(--muted)", points: week, dashed: true });
  const drawn = lines(series, { from: wanted.from, to: wanted.to, told, label: `Total of ${metricTitle(wanted.metric)} over time` });
  const most = points.reduce((a, b) => (b[1] > a[1] ? b : a), [null, 0]);
  const mean = meanOf(points);
  const numbers = tiles([["Mean", told(mean)], ["Most", told(most[1])],
    ["In all", si(mean * (wanted.to - wanted.from) / 1000, unit === "bytes" ? "B" : ""), length(wanted.to - wanted.from)],
    ["Against a week before", week.length ? factor(mean, meanOf(week)) : "–", week.length ? `then ${told(meanOf(week))}` : "nothing was observed then"]]);
  return figure("Total", { asked: totalsOf(wanted, step), drawn: drawn.picture, numbers: () => pointsTable("Total", points, told) }, drawn, numbers);
};

const pointsTable = (caption, points, told) => table(caption, [
  { title: "Until", cell: (row) => iso(row[0]), by: (row) => row[0] },
  { title: "Rate", number: true, cell: (row) => told(row[1]), by: (row) => row[1] },
], points);

/** Lines of those who did most; what is left of the total is all others. */
const linesOf = (names, rows, points, wanted, step) => {
  const colours = assign(names);
  const series = names.map((name) => ({ name, colour: colours.get(name), href: addressOf(wanted.by, name, { metric: wanted.metric }),
    points: onSteps(rows.filter((row) => row[wanted.by] === name), wanted.from, wanted.to, step) }));
  const left = points.map(([t, v], i) => [t, Math.max(0, series.reduce((rest, one) => rest - (one.points[i]?.[1] ?? 0), v))]);
  if (left.some(([, v]) => v > 0)) series.push({ name: "all others", colour: REST, dashed: true, points: left });
  return [series, colours];
};

const membersPart = async (wanted, unit, all, signal) => {
  const step = stepOf(wanted);
  const top = await question("top", { by: wanted.by, ...whole(wanted), limit: 25 }, signal);
  const names = top.rows.map((row) => row[wanted.by]).filter((name) => name !== null).slice(0, LINES);
  const asked = ["series", { by: wanted.by, [wanted.by]: names.map(exactly), ...whole(wanted), step: `${step / 1000}s` }];
  const [points, { rows }] = await Promise.all([all, names.length ? question(...asked, signal) : { rows: [] }]);
  const told = (value) => rate(value, unit);
  const [series, colours] = linesOf(names, rows, points, wanted, step);
  const drawn = lines(series, { from: wanted.from, to: wanted.to, told, height: 260, label: `${metricTitle(wanted.metric)} of each ${wanted.by} over time` });
  const listed = () => table(`${KEYS.get(wanted.by)} in this interval`, [
    { title: ONE.get(wanted.by), kind: "wide", cell: (row) => [h("i", { class: "dot", style: { background: colours.get(row[wanted.by]) ?? REST } }), named(wanted.by, row[wanted.by])] },
    { title: "Mean", number: true, cell: (row) => told(row.rate_mean), by: (row) => row.rate_mean },
    { title: "Most", number: true, cell: (row) => told(row.rate_max), by: (row) => row.rate_max },
    { title: "Share", number: true, cell: (row) => bar(row.share, colours.get(row[wanted.by])), by: (row) => row.share },
  ], top.rows, { quiet: true });
  return figure(KEYS.get(wanted.by), { asked, drawn: drawn.picture, numbers: listed }, drawn);
};

const densityPart = async (wanted, unit, _all, signal) => {
  const step = stepFor(wanted.from, wanted.to, 120, 60000);
  const asked = ["density", { by: wanted.by, ...whole(wanted), step: `${step / 1000}s`, base: 2 }];
  const { rows } = await question(...asked, signal);
  const drawn = density(rows, { from: wanted.from, to: wanted.to, step, told: (value) => rate(value, unit), noun: wanted.by });
  return figure("Density", { asked, drawn: drawn.picture, note: `How many ${KEYS.get(wanted.by).toLowerCase()} have a rate of which magnitude.`, numbers: () => drawn.numbers() }, drawn);
};

const causesPart = async (wanted, unit, _all, signal) => {
  const by = wanted.by === "user" ? "user,job" : wanted.by;
  const asked = ["causes", { by: by.split(","), ...whole(wanted), limit: 8 }];
  const before = await questionOrNone("totals", { by: "filesystem", operation: wanted.metric, from: 2 * wanted.from - wanted.to, to: wanted.from,
    step: `${Math.ceil((wanted.to - wanted.from) / 1000)}s` }, signal);
  const { rows, about, none } = before.rows.length ? await questionOrNone(...asked, signal)
    : { none: "Nothing was observed just before it: there is nothing to compare with." };
  if (none) return figure("What changed", {}, h("p", { class: "none" }, none));
  const total = about.total ?? {};
  const rose = total.mean > total.baseline;
  const keys = by.split(",");
  const words = rose ? `The mean is ${factor(total.mean, total.baseline)} of what was usual before: ${rate(total.mean, unit)} against ${rate(total.baseline, unit)}.`
    : `It is not above what was usual before: ${rate(total.mean, unit)} against ${rate(total.baseline, unit)}.`;
  return figure("What changed", { asked, note: words }, rows.length && rose ? table("Who is behind the increase", [
    ...keys.map((key) => ({ title: ONE.get(key), cell: (row) => named(key, row[key]) })),
    { title: "Usual", number: true, cell: (row) => rate(row.baseline, unit) },
    { title: "Gained", number: true, cell: (row) => rate(row.increase, unit) },
    { title: "Of the increase", number: true, cell: (row) => bar(row.share) },
  ], rows) : h("p", { class: "none" }, "Nobody stands out."));
};

/** Fill a place with all of it; each part comes when it is there. */
export const interval = async (place, wanted, signal) => {
  const unit = unitOf(wanted.metric);
  const then = address("/", { at: iso(wanted.to), by: wanted.by, metric: wanted.metric });
  const slots = Array.from({ length: 4 }, () => h("div", {}, waiting()));
  show(place, h("div", { class: "title-row" }, h("h2", {}, period(wanted.from, wanted.to)), h("span", { class: "pill" }, length(wanted.to - wanted.from)),
    h("a", { href: then, class: "small" }, "Show Now as it was then")),
  h("div", { class: "pair" }, slots[0], slots[1], slots[2], slots[3]));
  const parts = [totalPart, membersPart, causesPart, densityPart];
  const step = stepOf(wanted);
  const all = question(...totalsOf(wanted, step), signal).then(({ rows }) => sumOf(rows, wanted, step));
  await Promise.all(parts.map(async (part, i) => {
    try { show(slots[i], await part(wanted, unit, all, signal)); } catch (error) { if (!signal.aborted) show(slots[i], failure(error)); }
  }));
};
