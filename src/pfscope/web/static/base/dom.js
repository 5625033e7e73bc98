// Elements by construction: text becomes text nodes and nothing else, so no name that a user wrote
// can be markup. This is the only module that makes elements.

const SVG = "http://www.w3.org/2000/svg";

const put = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, v] of Object.entries(value)) element.style.setProperty(key, v);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
};

const add = (element, children) => {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
};

/** Make an HTML element: `h("a", { href }, "text", others)`. Functions named `onclick` listen. */
export const h = (name, attributes, ...children) => put(document.createElement(name), attributes, children);

/** Make an SVG element. */
export const s = (name, attributes, ...children) => put(document.createElementNS(SVG, name), attributes, children);

/** Show these children and no others. */
export const show = (place, ...children) => {
  place.replaceChildren();
  add(place, children);
  return place;
};

const nameOf = (element) => element?.dataset?.control ?? element?.getAttribute?.("href") ?? null;

/** Do something that makes elements anew; who had the focus has it afterwards, if it is there again. */
export const keepingFocus = (place, work) => {
  const name = place.contains(document.activeElement) ? nameOf(document.activeElement) : null;
  work();
  if (name === null || place.contains(document.activeElement)) return;
  [...place.querySelectorAll("a, button, select, input, [data-control]")].find((element) => nameOf(element) === name)?.focus({ preventScroll: true });
};

/** Tell screen readers what has changed, once it has settled. */
let saying;
export const say = (text) => {
  clearTimeout(saying);
  saying = setTimeout(() => show(document.getElementById("said"), text), 400);
};

/** A link within the page; `parameters` that are null are left out. */
export const address = (path, parameters = {}) => {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") words.set(name, value);
  }
  const text = words.toString();
  return text ? `${path}?${text}` : path;
};
