// Colours: the same name has the same one on every view; heat runs from few to many.

/** A place among the colours of lines, which the style sheet holds for light and for dark. */
export const LINES = 12;
export const placeOf = (name) => {
  let hash = 2166136261;
  for (const c of String(name)) hash = Math.imul(hash ^ c.codePointAt(0), 16777619) >>> 0;
  return hash % LINES;
};

/** Give names colours, those that come first their own, each another while there are enough. */
export const assign = (names) => {
  const taken = new Set();
  const given = new Map();
  for (const name of names) {
    let place = placeOf(name);
    if (taken.size < LINES) while (taken.has(place)) place = (place + 1) % LINES;
    taken.add(place);
    given.set(name, `var(--line-${place})`);
  }
  return given;
};

export const REST = "var(--rest)";

/** The colours of heat, as the style sheet has them now: `[[r, g, b], …]`. */
export const heatStops = () => {
  const style = getComputedStyle(document.documentElement);
  return [0, 1, 2, 3, 4, 5].map((i) => {
    const text = style.getPropertyValue(`--heat-${i}`).trim();
    return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  });
};

/** The colour of a part between 0 and 1. */
export const heat = (part, stops) => {
  const place = Math.min(Math.max(part, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(place), stops.length - 2);
  return stops[low].map((c, i) => Math.round(c + (stops[low + 1][i] - c) * (place - low)));
};

export const rgb = ([r, g, b]) => `rgb(${r} ${g} ${b})`;

/** Ink that can be read on a colour: black or white. */
export const inkOn = ([r, g, b]) => {
  const light = [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] > 0.179 ? "#0d1620" : "#ffffff";
};

/** An even spread of amounts that differ by orders of magnitude. */
export const spread = (value, most) => (most > 0 && value > 0 ? Math.sqrt(value / most) : 0);
