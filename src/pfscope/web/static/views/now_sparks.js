// The last hour of those who have most: asked once, then kept up from what is pushed.

import { exactly, questionOrNone } from "../base/api.js";
import { h } from "../base/dom.js";
import { spark } from "../charts/lines.js";

const HOUR = 3600000, STEP = 120000, AGAIN_MS = 5 * 60000;

/** `of(name)` draws somebody's line; `learn(now)` takes in what is new and tells whether there is more to draw. */
export const lastHour = (wanted, signal) => {
  const points = new Map();
  let asked = 0, end = 0;

  const append = (now) => {
    if (now.to <= end) { points.clear(); asked = 0; }
    end = now.to;
    const values = new Map(now.members.map((member) => [member.name, member.value]));
    for (const [name, list] of points) {
      list.push([now.to, values.get(name) ?? 0]);
      while (list.length && list[0][0] < end - HOUR) list.shift();
    }
  };
  const learn = async (now) => {
    append(now);
    const missing = now.members.map((member) => member.name).filter((name) => name !== null && !points.has(name));
    if (wanted.metric === "load" || !missing.length || Date.now() - asked < AGAIN_MS) return false;
    asked = Date.now();
    const { rows } = await questionOrNone("series", { by: wanted.by, [wanted.by]: missing.map(exactly), operation: wanted.metric,
      from: end - HOUR, to: end, step: `${STEP / 1000}s` }, signal).catch(() => ({ rows: [] }));
    for (const name of missing) {
      const known = new Map(rows.filter((row) => row[wanted.by] === name).map((row) => [row.time, row.rate]));
      const list = [];
      for (let at = Math.ceil((end - HOUR + 1) / STEP) * STEP; at <= end; at += STEP) list.push([at, known.get(at) ?? 0]);
      points.set(name, list);
    }
    return true;
  };
  const of = (name) => (points.has(name) ? spark(points.get(name), end - HOUR, end) : h("span", { class: "spark", "aria-hidden": "true" }));
  return { of, learn };
};
