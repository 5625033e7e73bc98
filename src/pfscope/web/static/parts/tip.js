// The one tooltip: plain text in rows, beside the pointer or the element that has the focus.

import { h, show } from "../base/dom.js";

const place = () => document.getElementById("tip");

/** Show a heading and rows of `[name, value, colour?]` near a point of the window. */
export const tip = (x, y, heading, rows = []) => {
  const box = place();
  show(box, h("strong", {}, heading), rows.map(([name, value, colour]) => h("div", { class: "tip-row" },
    h("span", {}, colour && h("i", { class: "dot", style: { background: colour } }), name), h("span", { class: "number" }, value))));
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = x + 14 + width > innerWidth ? x - width - 14 : x + 14;
  const top = y + 14 + height > innerHeight ? y - height - 14 : y + 14;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, top)}px`;
};

export const untip = () => { place().hidden = true; };

/** Give an element a tip on hover and on focus; `told` returns `[heading, rows]`. */
export const tipped = (element, told) => {
  element.addEventListener("pointermove", (event) => tip(event.clientX, event.clientY, ...told()));
  element.addEventListener("pointerleave", untip);
  element.addEventListener("focus", () => {
    const box = element.getBoundingClientRect();
    tip(box.right - 14, box.bottom - 14, ...told());
  });
  element.addEventListener("blur", untip);
  return element;
};
