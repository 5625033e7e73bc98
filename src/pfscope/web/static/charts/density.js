// How many have a rate of which magnitude, over time: the thesis's density, rates on a scale of powers.

import { h, s, show } from "../base/dom.js";
import { heat, heatStops, rgb } from "../base/colours.js";
import { clock, howMany, when } from "../base/format.js";
import { table } from "../parts/table.js";
import { tip, untip } from "../parts/tip.js";
import { timeTicks } from "./scale.js";

const LEFT = 62, BOTTOM = 24, TOP = 6, HEIGHT = 220;

/** Draw rows of `{ time, bucket_low, bucket_high, count }`. */
export const density = (rows, { from, to, step, told, noun }) => {
  const place = h("div", { class: "plot", role: "img", "aria-label": `Density of ${noun}s by rate, over time` });
  const lows = [...new Set(rows.map((row) => row.bucket_low))].filter((low) => low > 0).sort((a, b) => a - b);
  const base = rows.length ? rows[0].bucket_high / rows[0].bucket_low : 2;
  const places = lows.length ? Math.round(Math.log(lows.at(-1) / lows[0]) / Math.log(base)) + 1 : 1;
  const most = Math.max(1, ...rows.map((row) => row.count));
  const placeOf = (low) => Math.round(Math.log(low / lows[0]) / Math.log(base));
  const draw = (width) => {
    const stops = heatStops();
    const wide = (width - LEFT) / ((to - from) / step), tall = (HEIGHT - TOP - BOTTOM) / places;
    const cells = rows.filter((row) => row.bucket_low > 0).map((row) => s("rect", {
      x: (LEFT + ((row.time - step - from) / step) * wide).toFixed(1), y: (TOP + (places - 1 - placeOf(row.bucket_low)) * tall).toFixed(1),
      width: (wide + 0.5).toFixed(1), height: (tall + 0.3).toFixed(1), style: { fill: rgb(heat(0.15 + 0.85 * Math.sqrt(row.count / most), stops)) } }));
    const every = Math.max(1, Math.ceil(places / 7));
    const marks = Array.from({ length: places }, (_, i) => i).filter((i) => i % every === 0).map((i) => s("text", {
      class: "tick end", x: LEFT - 8, y: TOP + (places - i) * tall + 4 }, told(lows[0] * base ** i)));
    const times = timeTicks(from, to, width - LEFT).map(([t, text]) => s("text", { class: "tick middle", x: LEFT + ((t - from) / (to - from)) * (width - LEFT), y: HEIGHT - 6 }, text));
    place.svg = s("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, "aria-hidden": "true" }, s("g", {}, cells), lows.length ? marks : null, times);
    show(place, place.svg);
  };
  const known = new Map(rows.map((row) => [`${Math.ceil(row.time / step)} ${placeOf(row.bucket_low)}`, row]));
  place.addEventListener("pointermove", (event) => {
    const box = place.getBoundingClientRect();
    const time = from + ((event.clientX - box.left - LEFT) / (box.width - LEFT)) * (to - from);
    const at = places - 1 - Math.floor(((event.clientY - box.top - TOP) / (HEIGHT - TOP - BOTTOM)) * places);
    const row = known.get(`${Math.ceil(time / step)} ${at}`);
    if (!row) { untip(); return; }
    tip(event.clientX, event.clientY, when(row.time), [[`${told(row.bucket_low)} to ${told(row.bucket_high)}`, howMany(row.count, noun)]]);
  });
  place.addEventListener("pointerleave", untip);
  const again = () => place.clientWidth && draw(Math.max(260, place.clientWidth));
  new ResizeObserver(again).observe(place);
  document.addEventListener("pfscope:theme", again);
  place.picture = () => place.svg;
  place.numbers = () => table("Density", [
    { title: "From", number: true, cell: (row) => told(row.bucket_low), by: (row) => row.bucket_low },
    { title: "Below", number: true, cell: (row) => told(row.bucket_high) },
    { title: "At most", number: true, cell: (row) => howMany(row.count, noun), by: (row) => row.count },
    { title: "At", cell: (row) => clock(row.time), by: (row) => row.time },
  ], lows.map((low) => rows.filter((row) => row.bucket_low === low).reduce((a, b) => (b.count > a.count ? b : a))));
  return place;
};
