// Tables: sortable by their heads, scrolled within themselves where the window is narrow.

import { h, show } from "../base/dom.js";
import { share } from "../base/format.js";

const ordered = (rows, column, down) => [...rows].sort((a, b) => {
  const [x, y] = [column.by(a), column.by(b)];
  if (x === y) return 0;
  if (x === null || x === undefined) return 1;
  if (y === null || y === undefined) return -1;
  return (x < y ? -1 : 1) * (down ? -1 : 1);
});

/**
 * A table. Each column has a `title`, `cell(row)` and, where it can be sorted, `by(row)`; `number` puts it to the
 * right. `empty` is said where there are no rows.
 */
export const table = (caption, columns, rows, { empty = "Nothing to show.", quiet = false } = {}) => {
  if (!rows.length) return h("p", { class: "none" }, empty);
  let sorted = null;
  let down = true;
  const body = h("tbody");
  const heads = columns.map((column) => h("th", { scope: "col", class: column.number && "number" },
    column.by ? h("button", { class: "sort", type: "button", onclick: () => sort(column) }, column.title) : column.title));
  const fill = () => {
    const list = sorted ? ordered(rows, sorted, down) : rows;
    show(body, list.map((row) => h("tr", { class: row.marked && "marked" }, columns.map((column, i) => h(
      i ? "td" : "th", { class: column.number ? "number" : column.kind, scope: i ? null : "row" }, column.cell(row))))));
    columns.forEach((column, i) => heads[i].setAttribute("aria-sort", column !== sorted ? "none" : down ? "descending" : "ascending"));
  };
  const sort = (column) => {
    down = sorted === column ? !down : Boolean(column.number);
    sorted = column;
    fill();
  };
  fill();
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {}, h("caption", { class: quiet && "unseen" }, caption), h("thead", {}, h("tr", {}, heads)), body));
};

/** A part of a whole as a small bar and its number. */
export const bar = (part, colour) => [h("span", { class: "bar", "aria-hidden": "true" },
  h("span", { style: { width: `${Math.min(Math.max(part ?? 0, 0), 1) * 100}%`, ...(colour ? { background: colour } : {}) } })),
h("span", { class: "part" }, share(part))];
