// Data quality and the ledger: what became of every frame, how sound ids are, what no id tells.

import { h, show } from "../base/dom.js";
import { get, questionOrNone } from "../base/api.js";
import { count, share, si } from "../base/format.js";
import { change, failure, title } from "../base/router.js";
import { lines, onSteps } from "../charts/lines.js";
import { stepFor } from "../charts/scale.js";
import { spanList, spanMs, waiting } from "../parts/controls.js";
import { figure } from "../parts/figure.js";
import { named } from "../parts/names.js";
import { bar, table } from "../parts/table.js";

const ledger = async (signal) => {
  const { ledger: rows } = await get("/api/v1/ledger", signal);
  const lost = rows.filter((row) => ["dropped", "rejected"].includes(row.outcome));
  const balance = new Map();
  for (const row of rows) {
    const key = `${row.stage}\0${row.server}`;
    balance.set(key, (balance.get(key) ?? 0) + (row.outcome === "received" ? row.frames : -row.frames));
  }
  const odd = [...balance.values()].filter((left) => left !== 0).length;
  return figure("The ledger", { note: odd ? "It does not balance just now: frames are under way." : "It balances: received = stored + duplicate + rejected + dropped, for every stage and server." },
    table("What became of every frame", [
      { title: "Stage", cell: (row) => row.stage, by: (row) => row.stage }, { title: "Server", cell: (row) => named("server", row.server), by: (row) => row.server },
      { title: "Outcome", cell: (row) => row.outcome, by: (row) => row.outcome }, { title: "Reason", cell: (row) => row.reason || "–", by: (row) => row.reason },
      { title: "Frames", number: true, cell: (row) => count(row.frames), by: (row) => row.frames },
      { title: "Entries", number: true, cell: (row) => count(row.entries ?? 0), by: (row) => row.entries },
    ], rows.map((row) => ({ ...row, marked: lost.includes(row) })), { quiet: true }));
};

const classes = async (length, signal) => {
  const step = stepFor(0, length, 60, 300000);
  const asked = ["quality", { from: `-${length / 1000}s`, step: `${step / 1000}s` }];
  const { rows, from, to } = await questionOrNone(...asked, signal);
  const sums = new Map();
  for (const row of rows) {
    if (!sums.has(row.class)) sums.set(row.class, new Map());
    sums.get(row.class).set(row.time, (sums.get(row.class).get(row.time) ?? 0) + row.entries);
  }
  const order = [...sums].map(([name, values]) => [name, values, [...values.values()].reduce((a, b) => a + b, 0)]).sort((a, b) => b[2] - a[2]);
  const all = order.reduce((sum, [, , total]) => sum + total, 0);
  const series = order.map(([name, values], i) => ({ name, colour: `var(--line-${i})`, points: onSteps([...values].map(([time, rate]) => ({ time, rate })), from, to, step) }));
  const drawn = lines(series, { from, to, told: (value) => si(value), label: "Entries by how sound their ids are, over time" });
  const listed = () => table("Entries by class", [{ title: "Class", cell: (row) => row[0] }, { title: "Entries", number: true, cell: (row) => count(row[2]) },
    { title: "Share", number: true, cell: (row) => bar(row[2] / all) }], order, { quiet: true });
  return figure("How sound ids are", { asked, drawn: drawn.picture, numbers: listed, note: `Entries that were read in ${step / 60000} minutes, by the class of their ids.` }, drawn, listed());
};

const hidden = async (length, signal) => {
  const asked = ["unattributed", { by: "target", from: `-${length / 1000}s` }];
  const { rows, none } = await questionOrNone(...asked, signal);
  return figure("What no id tells", { asked, note: "Requests that targets counted, against the sum over their entries." }, table("Not attributed", [
    { title: "Target", cell: (row) => named("target", row.target), by: (row) => row.target },
    { title: "Counted", number: true, cell: (row) => si(row.total), by: (row) => row.total },
    { title: "Under no id", number: true, cell: (row) => si(row.unattributed), by: (row) => row.unattributed },
    { title: "Share", number: true, cell: (row) => bar(row.share), by: (row) => row.share },
  ], rows, { quiet: true, empty: none ?? "Targets tell nothing of their own." }));
};

/** Show it. */
export const quality = async (place, words, signal, ready) => {
  const span = words.span ?? "1d";
  title("Data quality");
  const slots = [h("div", {}, waiting()), h("div", {}, waiting()), h("div", {}, waiting())];
  show(place, h("div", { class: "title-row" }, h("h1", {}, "Data quality")), h("p", { class: "lead" }, "Nothing odd is dropped silently: this is what came, what was kept, and what could not be told."),
    h("div", { class: "toolbar" }, spanList(span, (to) => change({ span: to }))), h("div", { class: "pair" }, slots[0], slots[1]), slots[2]);
  ready();
  const parts = [classes(spanMs(span), signal), hidden(spanMs(span), signal), ledger(signal)];
  await Promise.all(parts.map(async (part, i) => { try { show(slots[i], await part); } catch (error) { if (!signal.aborted) show(slots[i], failure(error)); } }));
};
