// All incidents of a period, the newest first.

import { address, h, show } from "../base/dom.js";
import { factor, length, when } from "../base/format.js";
import { goesOn, incidents, kindOf } from "../base/incidents.js";
import { change, title } from "../base/router.js";
import { choice, notice, spanList, spanMs, waiting } from "../parts/controls.js";
import { culprit, severity } from "../parts/incidents.js";
import { named } from "../parts/names.js";
import { table } from "../parts/table.js";

const EVER = "all";
const WHICH = [["all", "All"], ["open", "Going on"], ["over", "Over"]];

const list = (found) => table("Incidents, the newest first", [
  { title: "Began", cell: (row) => when(row.start), by: (row) => row.start },
  { title: "What", cell: (row) => h("a", { href: address("/incident", { id: row.id }) }, kindOf(row)), by: kindOf },
  { title: "State", cell: severity, by: (row) => row.state },
  { title: "Lasted", number: true, cell: (row) => (row.end ? length(row.end - row.start) : "–"), by: (row) => (row.end ?? Infinity) - row.start },
  { title: "Who", cell: culprit, by: (row) => row.causes?.[0]?.user },
  { title: "Where", cell: (row) => (row.targets ?? []).slice(0, 3).map((target, i) => [i ? ", " : null, named("target", target)]), by: (row) => row.targets?.[0] },
  { title: "As usual", number: true, cell: (row) => factor(row.peak, row.baseline), by: (row) => row.ratio },
], found, { empty: "No incident in this time.", quiet: true });

/** Show it. */
export const incidentsView = async (place, words, signal, ready) => {
  const span = words.span ?? "7d";
  const which = words.which ?? "all";
  title("Incidents");
  const slot = h("div", {}, waiting());
  show(place, h("div", { class: "title-row" }, h("h1", {}, "Incidents")),
    h("p", { class: "lead" }, "Changes that the watch found, each with whoever is behind it."),
    h("div", { class: "toolbar" }, choice("Which", WHICH, which, (to) => change({ which: to })), spanList(span, (to) => change({ span: to }), [[EVER, "all"]])), slot);
  ready();
  const { list: found, none } = await incidents({ from: span === EVER ? 0 : `-${spanMs(span) / 1000}s` }, signal);
  if (none) { show(slot, notice("", h("p", {}, "There are none to show: ", none, "."))); return; }
  show(slot, list(found.filter((one) => which === "all" || goesOn(one) === (which === "open"))));
};
