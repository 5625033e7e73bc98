// Now: who loads which server at this moment, or was at any other.

import { address, h, show } from "../base/dom.js";
import { question } from "../base/api.js";
import { assign, REST } from "../base/colours.js";
import { clock, iso, length, rate, share, weekday } from "../base/format.js";
import { goesOn, incidents } from "../base/incidents.js";
import { watch } from "../base/live.js";
import { KEYS, ONE, title as metricTitle } from "../base/metrics.js";
import { asked, loadNow, together, unattributed } from "../base/now.js";
import { change, failure, title } from "../base/router.js";
import { stepFor } from "../charts/scale.js";
import { spark } from "../charts/lines.js";
import { parted, rings } from "../charts/rings.js";
import { byList, metricList, notice, tiles, waiting } from "../parts/controls.js";
import { figure } from "../parts/figure.js";
import { incidentLines } from "../parts/incidents.js";
import { addressOf, called, named } from "../parts/names.js";
import { slider } from "../parts/slider.js";
import { bar, table } from "../parts/table.js";

const BY = ["user", "job", "node", "project", "executable"];
const ROWS = 15;
const DAY = 24 * 3600000;

const wantedOf = (words) => ({
  by: BY.includes(words.by) ? words.by : "user",
  metric: words.metric ?? "iops",
  at: words.at ? Date.parse(words.at) : null,
});

const moment = (now, at) => {
  const age = Date.now() - now.to;
  if (at) return `As it was on ${weekday(now.to)} at ${clock(now.to)}, over ${length(now.to - now.from)}`;
  const old = age > 10 * 60000 ? `, ${length(age)} ago` : "";
  return `Last observed on ${weekday(now.to)} at ${clock(now.to, true)}${old}; rates over ${length(now.to - now.from)}`;
};

const coloured = (now, wanted, colours) => now.servers.map((server) => ({
  ...server,
  href: address("/server", { name: server.name, at: wanted.at && iso(wanted.at) }),
  parts: parted(server.total, server.members.map((member) => ({
    ...member, name: called(member.name), colour: member.name === null ? REST : colours.get(member.name) ?? REST,
    href: addressOf(wanted.by, member.name),
  }))),
}));

const asTable = (now, wanted) => table(`${metricTitle(wanted.metric)} by server and ${wanted.by}`, [
  { title: "Server", cell: (row) => named("server", row.server), by: (row) => row.server },
  { title: ONE.get(wanted.by), cell: (row) => named(wanted.by, row.name), by: (row) => row.name },
  { title: "Rate", number: true, cell: (row) => rate(row.value, now.unit), by: (row) => row.value },
  { title: "Of the server", number: true, cell: (row) => share(row.value / row.total), by: (row) => row.value / row.total },
], now.servers.flatMap((server) => server.members.slice(0, 50).map((member) => ({ ...member, server: server.name, total: server.total }))));

const topTable = (members, now, wanted, colours, sparks) => {
  const total = members.reduce((sum, member) => sum + member.value, 0);
  return table(`${KEYS.get(wanted.by)} with the most`, [
    { title: ONE.get(wanted.by), kind: "wide", cell: (row) => [h("i", { class: "dot", style: { background: colours.get(row.name) ?? REST } }), named(wanted.by, row.name)] },
    { title: "Rate", number: true, cell: (row) => rate(row.value, now.unit) },
    { title: "Share", number: true, cell: (row) => bar(row.value / total, colours.get(row.name)) },
    { title: "Last hour", kind: "spark-cell", cell: (row) => sparks.get(row.name) ?? h("span", { class: "spark", "aria-hidden": "true" }) },
  ], members.slice(0, ROWS), { quiet: true, empty: "Nobody did anything in these minutes." });
};

/** Small lines of the last hour for whoever is at the top. */
const fillSparks = async (members, now, wanted, sparks, signal) => {
  if (wanted.metric === "load") return;
  const from = now.to - 3600000, step = 120000;
  const { rows } = await question("series", { by: wanted.by, operation: wanted.metric, from, to: now.to, step: "120s" }, signal);
  const found = new Map(members.slice(0, ROWS).map((member) => [member.name, new Array(30).fill(0)]));
  for (const row of rows) {
    const list = found.get(row[wanted.by]);
    if (list) list[Math.min(29, Math.max(0, Math.ceil((row.time - from) / step) - 1))] = row.rate;
  }
  for (const [name, list] of found) sparks.get(name)?.replaceWith(spark(list));
};

const view = (parts, wanted) => [
  h("div", { class: "title-row" }, h("h1", {}, wanted.at ? "Then" : "Now"), parts.state),
  parts.moment,
  h("div", { class: "toolbar" }, byList(BY, wanted.by, (by) => change({ by })), metricList(wanted.metric, (metric) => change({ metric }))),
  parts.slider,
  parts.tiles,
  h("div", { class: "beside" }, parts.rings, h("div", { class: "side" }, parts.top, parts.incidents)),
];

/** Show it, and keep it up to date. */
export const now = async (place, words, signal, ready) => {
  const wanted = wantedOf(words);
  title(wanted.at ? `Then, ${words.at}` : "Now");
  const slot = (cls) => h("div", { class: cls ?? null });
  const parts = { state: slot("state"), moment: h("p", { class: "lead" }), slider: slot(), tiles: slot(), rings: slot(), top: slot(), incidents: slot() };
  show(parts.rings, waiting());
  show(place, view(parts, wanted));
  ready();

  const update = async () => {
    const found = await loadNow(wanted, signal);
    const members = together(found.servers);
    const colours = assign(members.filter((member) => member.name !== null).slice(0, 40).map((member) => member.name));
    const drawn = rings(coloured(found, wanted, colours), found.unit);
    show(parts.moment, moment(found, wanted.at));
    show(parts.rings, found.why.length && !found.servers.some((server) => server.total)
      ? notice("", h("p", {}, "There is no load to show: ", found.why[0], ".")) : null,
    figure(`${metricTitle(wanted.metric)} of each server, by ${wanted.by}`, {
      asked: asked(wanted), numbers: () => asTable(found, wanted), drawn: () => [...drawn.querySelectorAll("svg")],
    }, drawn));
    const sparks = new Map(members.slice(0, ROWS).map((member) => [member.name, h("span", { class: "spark" })]));
    show(parts.top, h("section", {}, h("h2", {}, `${KEYS.get(wanted.by)} with the most`), topTable(members, found, wanted, colours, sparks)));
    await Promise.all([
      fillTiles(parts, found, members, wanted, signal),
      fillSparks(members, found, wanted, sparks, signal),
    ]);
    return found;
  };
  const careful = async () => {
    try { return await update(); } catch (error) { if (!signal.aborted) show(parts.moment, failure(error)); return null; }
  };
  const first = await careful();
  if (signal.aborted || !first) return;
  if (!wanted.at) watch(careful, (state) => show(parts.state, stateOf(state)), signal);
  await fillSlider(parts, first, wanted, signal).catch((error) => { if (!signal.aborted) show(parts.slider, failure(error)); });
};

const stateOf = (state) => ({
  live: h("span", { class: "pill good" }, "live"),
  looking: h("span", { class: "pill" }, "looked at every 15 s"),
  away: h("span", { class: "pill warn" }, "the server is away; trying again"),
})[state];

const fillTiles = async (parts, found, members, wanted, signal) => {
  const total = members.reduce((sum, member) => sum + member.value, 0);
  const first = members.find((member) => member.name !== null);
  const [hidden, told] = await Promise.all([unattributed(wanted, signal),
    incidents({ from: wanted.at ? wanted.at - DAY : "-1d", to: wanted.at }, signal)]);
  const open = told.list.filter(goesOn);
  show(parts.tiles, tiles([
    ["All servers", rate(total, found.unit), metricTitle(wanted.metric)],
    first && [`Most, of all ${KEYS.get(wanted.by).toLowerCase()}`, share(first.value / total), named(wanted.by, first.name)],
    ["Not attributed", share(hidden.share), "counted by targets, under no id"],
    ["Incidents that go on", told.none ? "–" : String(open.length), told.none ?? h("a", { href: "/incidents" }, "all incidents")],
  ]));
  show(parts.incidents, told.list.length ? h("section", {}, h("h2", {}, "Incidents of this day"), incidentLines(told.list.slice(0, 5))) : null);
};

const fillSlider = async (parts, first, wanted, signal) => {
  const operation = wanted.metric === "load" ? "iops" : wanted.metric;
  const until = wanted.at ? Math.min(Date.now(), wanted.at + DAY / 2) : first.to;
  const from = until - DAY;
  const step = stepFor(from, until, 240);
  const { rows, from: begun, to: ended } = await question("totals", { by: "filesystem", operation, from, to: until, step: `${step / 1000}s` }, signal);
  show(parts.slider, slider({
    from: begun, to: ended, at: wanted.at ?? ended, live: !wanted.at, rows, step,
    moved: (at) => change({ at: iso(at) }), back: () => change({ at: null }),
  }));
};

