// Now: who loads which server at this moment, or did at any other.

import { h, keepingFocus, show } from "../base/dom.js";
import { Refused } from "../base/api.js";
import { palette } from "../base/colours.js";
import { clock, count, iso, length, rate, share, weekday } from "../base/format.js";
import { goesOnAt, incidents } from "../base/incidents.js";
import { watch } from "../base/live.js";
import { KEYS, title as metricTitle } from "../base/metrics.js";
import { asked, LIVE, NOW, nowAt, readNow, wish } from "../base/now.js";
import { change, failure, note, title } from "../base/router.js";
import { rings } from "../charts/rings.js";
import { byList, metricList, notice, tiles, waiting } from "../parts/controls.js";
import { figure } from "../parts/figure.js";
import { incidentLines } from "../parts/incidents.js";
import { named } from "../parts/names.js";
import { daySlider } from "../parts/slider.js";
import { coloured, ringTable, topTable } from "./now_parts.js";
import { lastHour } from "./now_sparks.js";

const BY = ["user", "job", "node", "project", "executable"];
const DAY = 24 * 3600000;
const INCIDENTS_MS = 30000;

const wantedOf = (words) => ({
  by: BY.includes(words.by) ? words.by : "user",
  metric: words.metric ?? "iops",
  at: Number.isFinite(Date.parse(words.at)) ? Date.parse(words.at) : null,
});

const moment = (now, at) => {
  const over = `rates over ${length(now.to - now.from)}`;
  if (at) return `As it was on ${weekday(now.to)} at ${clock(now.to, true)}; ${over}`;
  const age = Date.now() - now.to;
  const old = age > 10 * 60000 ? `, ${length(age)} ago` : "";
  return `Last observed on ${weekday(now.to)} at ${clock(now.to, true)}${old}; ${over}`;
};

const STATES = { live: ["good", "live"], looking: ["", "looked at every 15 s"], away: ["warn", "the server is away; trying again"] };
const stateOf = (name) => h("span", { class: `pill ${STATES[name][0]}` }, STATES[name][1]);

const numbersOf = (now, wanted, told) => {
  const first = now.members.find((member) => member.name !== null);
  const open = told?.list.filter((one) => goesOnAt(one, wanted.at)) ?? [];
  return tiles([
    ["All servers", now.untold ? "–" : rate(now.total, now.unit), metricTitle(wanted.metric)],
    [`Most, of ${count(now.count)} ${KEYS.get(wanted.by).toLowerCase()}`, first ? share(first.value / now.total) : "–", first ? named(wanted.by, first.name) : "nobody does anything"],
    ["Not attributed", share(now.hidden), "counted by targets, under no id"],
    [wanted.at ? "Incidents that went on" : "Incidents that go on", told && !told.none ? String(open.length) : "–", told?.none ?? h("a", { href: "/incidents" }, "all incidents")],
  ]);
};

const nothingYet = (error) => notice("", h("p", {}, h("strong", {}, "There is nothing to show yet: "), error.message, "."),
  h("p", {}, "Frames arrive from agents, or from a shell on a Lustre server: ",
    h("code", {}, "lctl get_param '*.*.job_stats' | curl --data-binary @- '", location.origin, "/api/v1/lctl?server=NAME'")));

const head = (parts, wanted) => [
  h("div", { class: "title-row" }, parts.name, parts.state), parts.moment,
  h("div", { class: "toolbar" }, byList(BY, wanted.by, (by) => change({ by })), metricList(wanted.metric, (metric) => change({ metric }))),
  parts.slider, parts.refused, parts.tiles,
  h("div", { class: "beside" }, parts.rings, h("div", { class: "side" }, parts.top, parts.incidents)),
];

/** What is drawn of one document, again and again; whatever has the focus keeps it. */
const painter = (parts, wanted, signal) => {
  const give = palette();
  const sparks = lastHour(wanted, signal);
  const circles = h("div", {});
  let last = null, told = null, toldAt = 0;
  const picture = figure(`${metricTitle(wanted.metric)} of each server, by ${wanted.by}`, {
    asked: () => asked(wanted, last), numbers: () => ringTable(last, wanted), drawn: () => [...circles.querySelectorAll("svg")],
  }, circles);
  const list = figure(`${KEYS.get(wanted.by)} with the most`, {}, h("div", {}));
  show(parts.top, list);
  const draw = () => {
    const names = [...last.members, ...last.servers.flatMap((server) => server.members)].map((member) => member.name).filter((name) => name !== null);
    const colours = give([...new Set(names)]);
    show(parts.moment, moment(last, wanted.at));
    show(parts.tiles, numbersOf(last, wanted, told));
    if (!picture.isConnected) show(parts.rings, picture);
    show(picture.remark, last.untold ? notice("", h("p", {}, "There is no load to show: no server told what it was under.")) : null);
    keepingFocus(circles, () => show(circles, rings(coloured(last, wanted, colours), last.unit)));
    picture.renew();
    keepingFocus(list.content, () => show(list.content, topTable(last, wanted, colours, sparks.of)));
  };
  const look = async () => {
    if (Date.now() - toldAt < INCIDENTS_MS && !wanted.at) return;
    toldAt = Date.now();
    try { told = await incidents({ from: last.to - DAY, to: wanted.at }, signal); } catch { return; }
    show(parts.incidents, told.list.length ? h("section", {}, h("h2", {}, wanted.at ? "Incidents of the day before" : "Incidents of this day"), incidentLines(told.list.slice(0, 5))) : null);
    show(parts.tiles, numbersOf(last, wanted, told));
  };
  document.addEventListener("pfscope:theme", () => last && draw(), { signal });
  return async (now) => {
    last = now;
    show(parts.refused);
    draw();
    await Promise.all([sparks.learn(now).then((more) => more && !signal.aborted && draw()), look()]);
  };
};

/** Show it, and keep it up to date. */
export const now = async (place, words, signal, ready) => {
  const wanted = wantedOf(words);
  const slot = (cls) => h("div", { class: cls ?? null });
  const parts = { name: h("h1"), state: slot("state"), moment: h("p", { class: "lead" }), slider: slot("slot-slider"), refused: slot(), tiles: slot("slot-tiles"), rings: slot(), top: slot(), incidents: slot() };
  const paint = painter(parts, wanted, signal);
  const call = () => {
    show(parts.name, wanted.at ? "Then" : "Now");
    title(wanted.at ? `Then, ${iso(wanted.at)}` : "Now");
  };
  call();
  show(parts.rings, waiting());
  show(place, head(parts, wanted));
  ready();

  const refuse = (error) => {
    if (signal.aborted) return;
    if (!(error instanceof Refused)) throw error;
    show(parts.rings);
    show(parts.refused, error.code === "no-data" ? nothingYet(error) : error.code === "question" ? notice("", h("p", {}, "Nothing was ever done that this metric counts.")) : failure(error));
  };
  let drawnOnce = null;
  const first = new Promise((done) => { drawnOnce = done; });
  const heard = (told) => {
    const seen = readNow(told, wanted);
    paint(seen);
    drawnOnce(seen);
  };
  const then = async () => {
    try { const seen = await nowAt(wanted, signal); if (!signal.aborted) { paint(seen); drawnOnce(seen); } } catch (error) { refuse(error); drawnOnce(null); }
  };
  const moved = (at) => {
    if (!at || !wanted.at) { change({ at: at && iso(at) }); return; }
    wanted.at = at;
    note({ at: iso(at) });
    call();
    then();
  };
  if (wanted.at) then();
  else watch({ live: `${LIVE}?${wish(wanted)}`, once: `${NOW}?${wish(wanted)}`, heard, signal,
    state: (name) => show(parts.state, stateOf(name)), refused: (error) => { refuse(error); drawnOnce(null); } });
  signal.addEventListener("abort", () => drawnOnce(null));
  const seen = await first;
  if (!seen || signal.aborted) return;
  const made = await daySlider({ metric: wanted.metric, at: wanted.at, newest: seen.to, moved }, signal).catch((error) => signal.aborted || failure(error));
  if (!signal.aborted) keepingFocus(parts.slider, () => show(parts.slider, made));
};
