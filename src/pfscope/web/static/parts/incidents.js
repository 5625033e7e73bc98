// Incidents in lists, one line each: what, where, who, since when.

import { address, h } from "../base/dom.js";
import { factor, share, when } from "../base/format.js";
import { goesOn, kindOf } from "../base/incidents.js";
import { named } from "./names.js";

/** How bad it is and whether it goes on, in a word with a colour. */
export const severity = (one) => h("span", { class: `pill ${goesOn(one) ? one.severity : "past"}` }, goesOn(one) ? one.severity : one.state);

export const culprit = (one) => {
  const main = one.causes?.[0];
  if (!main) return "many together";
  const who = [main.user !== null && main.user !== undefined && ["user ", named("user", main.user)], main.job && [" job ", named("job", main.job)]].filter(Boolean);
  return [who.length ? who : "somebody unnamed", Number.isFinite(main.share) ? `, ${share(main.share)} of it` : null];
};

/** A short list. */
export const incidentLines = (list) => h("ul", { class: "incident-lines" }, list.map((one) => h("li", {},
  severity(one), h("a", { href: address("/incident", { id: one.id }) }, kindOf(one)),
  h("span", { class: "under-line" }, culprit(one), " · ", (one.targets ?? []).slice(0, 2).join(", "),
    (one.targets?.length ?? 0) > 2 ? ` and ${one.targets.length - 2} more` : null,
    Number.isFinite(one.ratio) ? ` · ${factor(one.peak, one.baseline)} as usual` : null, ` · since ${when(one.start)}`))));
