// Where numbers and times stand on an axis, and which of them are named.

import { clock, day, weekday } from "../base/format.js";

const MINUTE = 60000, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
const STEPS = [MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR,
  DAY, 2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY, 91 * DAY, 182 * DAY];

/** A line from one range to another. */
export const linear = (from, to, low, high) => (value) => low + ((value - from) / (to - from || 1)) * (high - low);

/** Round times between two, as `[ms, text]`; days are named where they begin. */
export const timeTicks = (from, to, width) => {
  const wanted = Math.max(2, Math.floor(width / 90));
  const step = STEPS.find((one) => (to - from) / one <= wanted) ?? STEPS.at(-1);
  const ticks = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    if (at > from + (to - from) * 0.97) break; // its name would be cut off
    ticks.push([at, step >= DAY ? day(at).slice(5) : at % DAY ? clock(at) : weekday(at).slice(0, 3)]);
  }
  return ticks;
};

/** Round numbers from zero up to a little above `most`. */
export const ticks = (most, wanted = 4) => {
  if (!(most > 0)) return [0, 1];
  const rough = most / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => most / n <= wanted) ?? 10 * power;
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, i) => i * step);
};

/** A step that fits so many pixels: a round one, not below `least`. */
export const stepFor = (from, to, points, least = 1000) => {
  const nice = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];
  const needed = Math.max((to - from) / points, least) / 1000;
  return (nice.find((one) => one >= needed) ?? 604800) * 1000;
};
