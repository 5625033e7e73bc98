// One incident: what changed, who is behind it, why we think so, what to do, and who takes care.

import { address, h, show } from "../base/dom.js";
import { question } from "../base/api.js";
import { factor, iso, length, period, rate, share, when } from "../base/format.js";
import { acknowledge, goesOn, incident, kindOf } from "../base/incidents.js";
import { unitOf } from "../base/metrics.js";
import { change, failure, title } from "../base/router.js";
import { me } from "../base/session.js";
import { lines, onSteps } from "../charts/lines.js";
import { stepFor } from "../charts/scale.js";
import { tiles, waiting } from "../parts/controls.js";
import { figure, pasted } from "../parts/figure.js";
import { severity } from "../parts/incidents.js";
import { named } from "../parts/names.js";
import { bar, table } from "../parts/table.js";

const HOUR = 3600000;
const SILENCES = [["7d", "for a week"], ["1d", "for a day"], ["2h", "for two hours"], ["0", "not"]];
const plain = (value) => (value !== null && typeof value === "object" ? JSON.stringify(value) : String(value));
const told = (key) => key.replaceAll("_", " ");

const causes = (one) => table("Who is behind it, strongest first", [
  ...["user", "job", "node", "executable"].map((key) => ({ title: { user: "User", job: "Job", node: "Node", executable: "Program" }[key], cell: (row) => (row[key] === null || row[key] === undefined ? "–" : named(key, row[key])) })),
  { title: "Of the increase", number: true, cell: (row) => bar(row.share) },
  { title: "Confidence", number: true, cell: (row) => share(row.confidence) },
], one.causes ?? [], { empty: "No single one: many did a little more.", quiet: true });

const evidence = (one) => {
  const rows = Object.entries(one.evidence ?? {}).filter(([, value]) => value !== null && value !== "");
  return rows.length ? table("Why we think so", [
    { title: "What", cell: ([key]) => told(key) }, { title: "Found", cell: ([, value]) => plain(value) },
  ], rows, { quiet: true }) : h("p", { class: "none" }, "Nothing more was noted.");
};

/** The operation that changed most, from before the beginning until after the end. */
const curve = async (one, signal) => {
  const operation = one.operations?.[0];
  if (!operation) return null;
  const until = one.end ?? Date.now();
  const margin = Math.max(HOUR, (until - one.start) / 2);
  const asked = { by: "target", operation, from: one.start - margin, to: until + margin, target: one.targets };
  const step = stepFor(asked.from, asked.to, 240, 30000);
  const full = ["totals", { ...asked, step: `${step / 1000}s` }];
  const { rows, from, to } = await question(...full, signal);
  const names = [...new Set(rows.map((row) => row.target))];
  const series = names.map((name, i) => ({ name, colour: `var(--line-${i % 12})`, href: address("/target", { name }), points: onSteps(rows.filter((row) => row.target === name), from, to, step) }));
  const unit = unitOf(operation);
  const drawn = lines(series, { from, to, told: (value) => rate(value, unit), label: `${operation} over time`, marks: [{ from: one.start, to: Math.min(until, to) }] });
  return figure(`${operation}, with the incident marked`, { asked: full, drawn: drawn.picture }, drawn);
};

const care = (one, who) => {
  if (one.acknowledged) {
    const by = one.acknowledged.author ?? one.acknowledged.by;
    return h("div", { class: "notice good" }, h("p", {}, "Taken care of", by ? ` by ${by}` : null, one.acknowledged.comment ? `: ${one.acknowledged.comment}` : "."));
  }
  if (!["admin", "staff"].includes(who.role)) return null;
  const author = h("input", { type: "text", required: true, maxlength: 100, autocomplete: "name", value: who.name ?? "", readonly: who.name !== null });
  const comment = h("input", { type: "text", required: true, maxlength: 1000 });
  const silent = h("select", {}, SILENCES.map(([value, text]) => h("option", { value }, text)));
  const said = h("div", { role: "status" });
  const submit = async (event) => {
    event.preventDefault();
    try { await acknowledge(one.id, { author: author.value, comment: comment.value, silent: silent.value }); change({}); } catch (error) { show(said, failure(error)); }
  };
  return h("form", { class: "stack", onsubmit: submit },
    h("p", { class: "note" }, "Whoever takes care of it says so here: admins and staff see who, and how. Its alerts can be silent meanwhile; its end is still told."),
    h("label", {}, "Who takes care", author), h("label", {}, "What is done", comment), h("label", {}, "Silence its alerts", silent), h("div", {}, h("button", { class: "strong" }, "Acknowledge")), said);
};

/** Show it. */
export const incidentView = async (place, words, signal, ready) => {
  const one = await incident(words.id ?? "", signal);
  const who = await me();
  title(`${kindOf(one)}, ${when(one.start)}`);
  const slot = h("div", {}, waiting());
  const unit = unitOf(one.operations?.[0] ?? "iops");
  const commands = one.advice?.commands ?? [];
  show(place, h("p", { class: "crumb" }, h("a", { href: "/incidents" }, "Incidents"), " / ", String(one.id)),
    h("div", { class: "title-row" }, h("h1", {}, kindOf(one)), severity(one)),
    h("p", { class: "lead" }, one.end ? period(one.start, one.end) : `since ${when(one.start)}`, " on ", one.filesystem, " · ",
      h("a", { href: address("/history", { rows: "target", metric: one.operations?.[0], from: iso(one.start - 6 * HOUR), to: iso((one.end ?? Date.now()) + HOUR), a: iso(one.start), b: iso(one.end ?? Date.now()) }) }, "in History"), " · ",
      h("a", { href: address("/", { at: iso((one.end ?? Math.min(Date.now(), one.start + HOUR)) - 60000), metric: one.operations?.[0] }) }, "Now as it was then")),
    tiles([
      ["At its height", rate(one.peak, unit), `usual: ${rate(one.baseline, unit)}`], ["As usual", factor(one.peak, one.baseline), (one.operations ?? []).join(", ")],
      ["Lasted", one.end ? length(one.end - one.start) : goesOn(one) ? "goes on" : "–", one.state],
      ["Where", String(one.targets?.length ?? 0), (one.targets ?? []).slice(0, 4).map((target, i) => [i ? ", " : null, named("target", target)])],
    ]),
    slot,
    h("div", { class: "pair" },
      h("section", {}, h("h2", {}, "Who"), causes(one)), h("section", {}, h("h2", {}, "Evidence"), evidence(one)),
      h("section", {}, h("h2", {}, "What the user can do"), h("p", { class: "words" }, one.advice?.user ?? "–")),
      h("section", {}, h("h2", {}, "What an admin can do"), h("p", {}, one.advice?.admin ?? "–"), commands.map(pasted)),
      h("section", {}, h("h2", {}, "Care"), care(one, who))));
  ready();
  try { show(slot, await curve(one, signal)); } catch (error) { if (!signal.aborted) show(slot, failure(error)); }
};
