// PFSTRASE's rings, one for each server: the width of a segment is a part of the load, the colour of
// the centre is the whole.

import { h, s } from "../base/dom.js";
import { heat, heatStops, inkOn, REST, rgb, spread } from "../base/colours.js";
import { rate, share } from "../base/format.js";
import { tipped } from "../parts/tip.js";

const SIZE = 180, OUTER = 84, INNER = 60, CENTRE = 52, GAP = 0.012;

const at = (radius, turn) => {
  const angle = (turn - 0.25) * 2 * Math.PI;
  return `${(SIZE / 2 + radius * Math.cos(angle)).toFixed(2)} ${(SIZE / 2 + radius * Math.sin(angle)).toFixed(2)}`;
};

const arc = (from, to) => {
  const wide = to - from > 0.5 ? 1 : 0;
  const end = Math.min(to, from + 0.99999);
  return `M ${at(OUTER, from)} A ${OUTER} ${OUTER} 0 ${wide} 1 ${at(OUTER, end)} L ${at(INNER, end)} `
    + `A ${INNER} ${INNER} 0 ${wide} 0 ${at(INNER, from)} Z`;
};

const segment = (server, part, from, unit) => {
  const wide = part.value / server.total;
  const gap = Math.min(GAP, wide / 3);
  const drawn = s("path", { d: arc(from + gap / 2, from + wide - gap / 2), style: { fill: part.colour }, class: "segment" });
  const told = () => [part.name, [[server.name, ""], ["rate", rate(part.value, unit)], ["of this server", share(wide)]]];
  if (!part.href) return tipped(s("g", {}, drawn), told);
  return tipped(s("a", { href: part.href, tabindex: "-1", "data-control": `${part.name} on ${server.name}`, "aria-label": `${part.name} on ${server.name}: ${rate(part.value, unit)}, ${share(wide)}` }, drawn), told);
};

/** One stop for the Tab key; the arrow keys walk its links. */
const walked = (picture) => {
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const links = [...picture.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    links[(at + step + links.length) % links.length].focus();
  });
  return picture;
};

/** One ring. A server has `name`, `href`, `total`, `parts` of `{ name, value, colour, href }`. */
const ring = (server, most, unit) => {
  const colour = heat(spread(server.total, most), heatStops());
  const [, number, behind] = /^([^\u202f/]+)\u202f?(.*)$/.exec(rate(server.total, unit));
  let from = 0;
  const segments = server.total > 0 ? server.parts.map((part) => {
    const made = segment(server, part, from, unit);
    from += part.value / server.total;
    return made;
  }) : [];
  const centre = s("a", { href: server.href, "aria-label": `${server.name}: ${rate(server.total, unit)} in all` },
    s("circle", { cx: SIZE / 2, cy: SIZE / 2, r: CENTRE, style: { fill: rgb(colour) }, class: "centre" }),
    s("text", { x: SIZE / 2, y: SIZE / 2 + 4, class: "total", style: { fill: inkOn(colour) } }, number),
    s("text", { x: SIZE / 2, y: SIZE / 2 + 22, class: "total-unit", style: { fill: inkOn(colour) } }, behind));
  const rows = server.parts.slice(0, 6).map((p) => [p.name, rate(p.value, unit), p.colour]);
  tipped(centre, () => [server.name, [...rows, ["in all", rate(server.total, unit)], ...(server.told ?? [])]]);
  const picture = walked(s("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "group", "aria-label": `${server.name}, ${server.parts.length} parts: arrow keys walk them` },
    s("circle", { cx: SIZE / 2, cy: SIZE / 2, r: (OUTER + INNER) / 2, class: "track" }), centre, segments));
  return h("li", { class: "ring" }, picture, h("a", { href: server.href, class: "ring-name", tabindex: "-1", "data-control": `name of ${server.name}` }, server.name),
    h("p", { class: "ring-note" }, server.note ?? ""));
};

/** All rings; the centre's colours are of one scale. */
export const rings = (servers, unit) => {
  const most = Math.max(...servers.map((server) => server.total), 0);
  return h("ul", { class: "rings" }, servers.map((server) => ring(server, most, unit)));
};

/** Parts of one server, largest first: so many by name, the others together. */
export const parted = (total, members, few = 12) => {
  const list = [...members].sort((a, b) => b.value - a.value);
  const named = list.slice(0, few).filter((part) => part.value > 0.003 * total);
  const rest = total - named.reduce((sum, part) => sum + part.value, 0);
  return rest > 0.001 * total ? [...named, { name: "all others", value: rest, colour: REST, href: null }] : named;
};
