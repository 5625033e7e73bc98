// Colours: the same name has the same one on every view; heat runs from few to many.

/** A place among the colours of lines, which the style sheet holds for light and for dark. */
export const LINES = 12;
export const placeOf = (name) => {
  let hash = 2166136261;
  for (const c of String(name)) hash = Math.imul(hash ^ c.codePointAt(0), 16777619) >>> 0;
  return hash % LINES;
};

/** Colours that stay: names that come first get each another one, and nobody's changes while others come and go. */
export const palette = () => {
  const places = new Map();
  return (names) => {
    const taken = new Set(names.slice(0, LINES).map((name) => places.get(name)));
    for (const name of names) {
      if (places.has(name)) continue;
      let place = placeOf(name);
      for (let tried = 0; tried < LINES && taken.has(place); tried += 1) place = (place + 1) % LINES;
      taken.add(place);
      places.set(name, place);
    }
    return new Map(names.map((name) => [name, `var(--line-${places.get(name)})`]));
  };
};

/** Give names colours once. */
export const assign = (names) => palette()(names);

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

const POWER = 3;

/** An even spread of amounts that differ by orders of magnitude. */
export const spread = (value, most) => (most > 0 && value > 0 ? (value / most) ** (1 / POWER) : 0);

/** The amount that is shown so. */
export const unspread = (part, most) => most * part ** POWER;
