// A page for one user, job, project, node, program, target, server or file system: what it does over
// time, which part of the whole that is, and with whom.

import { address, h, show } from "../base/dom.js";
import { exactly, question, questionOrNone } from "../base/api.js";
import { iso, period, rate, share } from "../base/format.js";
import { incidents } from "../base/incidents.js";
import { KEYS, ONE, title as metricTitle, unitOf } from "../base/metrics.js";
import { change, failure, title } from "../base/router.js";
import { lines, onSteps } from "../charts/lines.js";
import { stepFor } from "../charts/scale.js";
import { metricList, notice, spanList, spanMs, tiles, waiting } from "../parts/controls.js";
import { figure } from "../parts/figure.js";
import { incidentLines } from "../parts/incidents.js";
import { named } from "../parts/names.js";
import { bar, table } from "../parts/table.js";

const PARTS = {
  user: ["job", "operation", "target", "node", "executable", "project"],
  job: ["operation", "node", "target", "executable"],
  project: ["user", "job", "operation", "target"],
  group: ["user", "job", "operation", "target"],
  node: ["user", "job", "executable", "target"],
  executable: ["user", "job", "operation", "node"],
  partition: ["project", "user", "job", "operation"],
  target: ["user", "job", "operation", "node"],
  server: ["target", "user", "job", "operation"],
  filesystem: ["server", "target", "user", "operation"],
};
const ROWS = 12;
const WHOLE = ["server", "target", "filesystem"];

const fits = (key, name) => (one) => (key === "target" ? one.targets?.includes(name) : key === "filesystem" ? one.filesystem === name
  : one.causes?.some((cause) => cause[key] === name));

const partOf = async (part, wanted, signal) => {
  const asked = ["top", { by: part, ...wanted.where, operation: wanted.metric, ...wanted.when, limit: ROWS }];
  const { rows, about } = await questionOrNone(...asked, signal);
  if (part === "project" && rows.every((row) => row.project === null)) return null;
  return figure(KEYS.get(part), { asked, level: "h2" }, table(`${KEYS.get(part)} of ${wanted.name}`, [
    { title: ONE.get(part), kind: "wide", cell: (row) => (part === "operation" ? row.operation : named(part, row[part])) },
    { title: "Mean", number: true, cell: (row) => rate(row.rate_mean, about.unit), by: (row) => row.rate_mean },
    { title: "Most", number: true, cell: (row) => rate(row.rate_max, about.unit), by: (row) => row.rate_max },
    { title: "Share", number: true, cell: (row) => bar(row.share), by: (row) => row.share },
  ], rows, { quiet: true }));
};

const curve = async (wanted, signal) => {
  const step = stepFor(0, wanted.length, 240, 60000);
  const asked = ["series", { by: wanted.key, ...wanted.where, operation: wanted.metric, ...wanted.when, step: `${step / 1000}s` }];
  const { rows, from, to, about } = await question(...asked, signal);
  wanted.seen = { from, to };
  if (!rows.length) return notice("", h("p", {}, `Nothing was done in this time: ${about.empty ?? "no row fits"}.`));
  const unit = about.unit ?? unitOf(wanted.metric);
  const points = onSteps(rows, from, to, step);
  const drawn = lines([{ name: wanted.name, colour: "var(--accent)", points, area: true }], {
    from, to, told: (value) => rate(value, unit), label: `${metricTitle(wanted.metric)} of ${wanted.name} over time`, legend: false });
  const numbers = () => table("Over time", [
    { title: "Until", cell: (row) => iso(row[0]), by: (row) => row[0] }, { title: "Rate", number: true, cell: (row) => rate(row[1], unit), by: (row) => row[1] },
  ], points);
  return figure(metricTitle(wanted.metric), { asked, drawn: drawn.picture, numbers, note: period(from, to) }, drawn);
};

/** Its part of everything, in three metrics. */
const parts = async (wanted, signal) => {
  const each = await Promise.all(["iops", "metadata", "bytes"].map(async (metric) => {
    const by = { by: wanted.key, operation: metric, ...wanted.when };
    const [mine, all] = await Promise.all([questionOrNone("top", { ...by, ...wanted.where, limit: 1 }, signal),
      WHOLE.includes(wanted.key) ? null : questionOrNone("top", { ...by, by: "filesystem", limit: 1 }, signal)]);
    return [metric, mine.rows[0]?.rate_mean ?? 0, mine.rows[0]?.rate_max ?? 0, all?.rows[0]?.rate_mean];
  }));
  return tiles(each.map(([metric, mean, most, all]) => [metricTitle(metric), rate(mean, unitOf(metric)),
    [`most ${rate(most, unitOf(metric))}`, all ? ` · ${share(mean / all)} of all` : null]]));
};

/** What the scheduler and the ids tell about a job. */
const facts = async (wanted, signal) => {
  if (wanted.key !== "job") return null;
  const { rows } = await questionOrNone("top", { by: ["user", "group", "project", "partition"], ...wanted.where, ...wanted.when, limit: 3 }, signal);
  const keys = ["user", "group", "project", "partition"].filter((key) => rows.some((row) => row[key] !== null && row[key] !== undefined));
  if (!keys.length) return null;
  return h("p", {}, keys.map((key, i) => [i ? " · " : null, `${ONE.get(key).toLowerCase()} `,
    [...new Set(rows.map((row) => row[key]).filter((name) => name !== null))].map((name, n) => [n ? ", " : null, named(key, name)])]),
  rows.length > 1 && keys.includes("user") && new Set(rows.map((row) => row.user)).size > 1
    ? h("span", { class: "pill warn" }, "several users claim this job") : null);
};

/** Show the page of one thing. */
export const thing = (key) => async (place, words, signal, ready) => {
  const name = words.name ?? "";
  const metric = words.metric && words.metric !== "load" ? words.metric : "iops";
  const until = words.at ? Date.parse(words.at) : null;
  const span = words.span ?? "1d";
  const wanted = { key, name, metric, where: { [key]: exactly(name) }, length: spanMs(span),
    when: until ? { from: until - spanMs(span), to: until } : { from: `-${spanMs(span) / 1000}s` } };
  title(`${ONE.get(key)} ${name}`);
  const slot = () => h("div", {}, waiting());
  const [about, numbers, over, told, ...lists] = Array.from({ length: 4 + PARTS[key].length }, slot);
  show(about);
  show(told);
  show(place, h("p", { class: "crumb" }, ONE.get(key)), h("div", { class: "title-row" }, h("h1", { class: "name" }, name)), about,
    h("div", { class: "toolbar" }, metricList(metric, (to) => change({ metric: to }), { load: false }), spanList(span, (to) => change({ span: to })),
      h("a", { href: address("/history", { metric, span }), class: "small" }, "History of all")),
    numbers, over, told, h("div", { class: "pair" }, lists));
  ready();
  if (!name) { show(over, notice("warn", h("p", {}, "The address names nobody."))); return; }
  const fill = async (into, made) => { try { show(into, await made); } catch (error) { if (!signal.aborted) show(into, failure(error)); } };
  await fill(over, curve(wanted, signal));
  await Promise.all([fill(about, facts(wanted, signal)), fill(numbers, parts(wanted, signal))]);
  await fill(told, incidents(wanted.seen ?? wanted.when, signal).then(({ list }) => {
    const mine = list.filter(fits(key, name)).slice(0, 5);
    return mine.length ? h("section", {}, h("h2", {}, "Incidents"), incidentLines(mine)) : null;
  }));
  await Promise.all(PARTS[key].map((part, i) => fill(lists[i], partOf(part, wanted, signal))));
};

