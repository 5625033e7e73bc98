// What Now is made of: rings with their colours, the table behind them, and who has most.

import { address, h } from "../base/dom.js";
import { REST } from "../base/colours.js";
import { count, iso, length, rate, share, si } from "../base/format.js";
import { ONE, title as metricTitle } from "../base/metrics.js";
import { parted } from "../charts/rings.js";
import { addressOf, called, named } from "../parts/names.js";
import { bar, table } from "../parts/table.js";

const ESTIMATES = { service: "by the time that requests took", equal: "every request weighs the same" };

const further = ({ metric, at }) => ({ metric: metric === "iops" ? null : metric, at: at && iso(at) });

const noteOf = (server, now) => {
  if (server.silent) return `silent for ${length(now.to - server.time)}`;
  return Number.isFinite(server.under) && server.under !== null ? `load ${si(server.under)}` : "";
};

/** Servers as rings take them. */
export const coloured = (now, wanted, colours) => now.servers.map((server) => ({
  ...server,
  href: address("/server", { name: server.name, ...further(wanted) }),
  note: noteOf(server, now),
  told: now.unit === "load" && server.estimate ? [["shared out", ESTIMATES[server.estimate] ?? server.estimate]] : [],
  parts: parted(server.total, server.members.map((member) => ({
    ...member, name: called(member.name), colour: colours.get(member.name) ?? REST, href: addressOf(wanted.by, member.name, further(wanted)),
  }))),
}));

/** The numbers that the rings show. */
export const ringTable = (now, wanted) => table(`${metricTitle(wanted.metric)} by server and ${wanted.by}`, [
  { title: "Server", cell: (row) => named("server", row.server), by: (row) => row.server },
  { title: ONE.get(wanted.by), cell: (row) => named(wanted.by, row.name), by: (row) => row.name },
  { title: "Rate", number: true, cell: (row) => rate(row.value, now.unit), by: (row) => row.value },
  { title: "Of the server", number: true, cell: (row) => share(row.value / row.total), by: (row) => row.value / row.total },
], now.servers.flatMap((server) => server.members.map((member) => ({ ...member, server: server.name, total: server.total }))));

/** Who has most, with a small line of the last hour. */
export const topTable = (now, wanted, colours, sparkOf) => [
  table(`${wanted.by} with the most`, [
    { title: ONE.get(wanted.by), kind: "wide", cell: (row) => [h("i", { class: "dot", style: { background: colours.get(row.name) ?? REST } }), named(wanted.by, row.name, further(wanted))] },
    { title: "Rate", number: true, cell: (row) => rate(row.value, now.unit) },
    { title: "Share", number: true, cell: (row) => bar(row.value / now.total, colours.get(row.name)) },
    now.unit !== "load" && { title: "Hour before", kind: "spark-cell", cell: (row) => sparkOf(row.name) },
  ].filter(Boolean), now.members, { quiet: true, empty: "Nobody did anything." }),
  now.count > now.members.length ? h("p", { class: "note" }, `and ${count(now.count - now.members.length)} more`) : null,
];
