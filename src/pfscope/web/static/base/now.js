// Rates of one moment: per server, who has which part of it.

import { question, questionOrNone } from "./api.js";
import { unitOf } from "./metrics.js";

const WINDOW_MS = 5 * 60000;
const MEMBERS = 3000;

/** The words that say "these minutes": the newest, or those before a time. */
export const around = (at) => (at ? { from: at - WINDOW_MS, to: at } : { from: "-5m" });

/** What was asked, for CSV and the command line. */
export const asked = ({ by, metric, at }) => (metric === "load"
  ? ["load", { by, limit: MEMBERS, ...around(at) }]
  : ["top", { by: ["server", by], operation: metric, limit: MEMBERS, ...around(at) }]);

/** `{ from, to, unit, servers: [{ name, total, members: [{ name, value }] }], why }`. */
export const loadNow = async (wanted, signal) => {
  const [name, parameters] = asked(wanted);
  const { rows, from, to, about } = await question(name, parameters, signal);
  const load = wanted.metric === "load";
  const servers = new Map();
  for (const row of rows) {
    const value = load ? row.load_service ?? row.load_equal ?? row.load : row.rate_mean;
    if (!servers.has(row.server)) servers.set(row.server, { name: row.server, total: 0, members: [] });
    if (value === null || !(value > 0)) continue;
    const server = servers.get(row.server);
    server.members.push({ name: row[wanted.by], value });
    server.total += value;
  }
  const sorted = [...servers.values()].sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  return { from, to, unit: load ? "load" : about.unit ?? unitOf(wanted.metric), servers: sorted, why: about.why ?? [] };
};

/** Members of all servers together, largest first. */
export const together = (servers) => {
  const sums = new Map();
  for (const server of servers) for (const { name, value } of server.members) sums.set(name, (sums.get(name) ?? 0) + value);
  return [...sums].map(([name, value]) => ({ name, value })).sort((a, b) => b.value - a.value);
};

/** How much of what targets counted no id is told for. */
export const unattributed = async ({ metric, at }, signal) => {
  const operation = metric === "load" ? "iops" : metric;
  const { rows } = await questionOrNone("unattributed", { by: "server", operation, ...around(at) }, signal);
  const sum = (name) => rows.reduce((all, row) => all + (row[name] ?? 0), 0);
  return { share: sum("total") > 0 ? sum("unattributed") / sum("total") : null, rows };
};
