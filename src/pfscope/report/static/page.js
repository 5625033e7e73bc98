// Draws the figures of a page from the data blocks in it, in the reader's colours, and again where
// these change. Nothing is fetched, and no text of the data becomes HTML here.
(() => {
  "use strict";
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const darkOf = read("dark-colours");
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const coarse = matchMedia("(pointer: coarse)").matches;
  const PAPER_PX = 680; // what A4 holds between the margins
  let printing = false;

  const words = new Set(["name", "text", "ticktext", "legendgroup", "customdata"]);

  const coloured = (value) => {
    if (typeof value === "string") return darkOf[value] ?? value;
    if (Array.isArray(value)) return value.map(coloured);
    if (value === null || typeof value !== "object" || "bdata" in value) return value;
    const turned = ([key, inner]) => [key, words.has(key) ? inner : coloured(inner)];
    return Object.fromEntries(Object.entries(value).map(turned));
  };

  const draw = (place) => {
    const made = read(place.dataset.figure);
    const { data, layout } = prefersDark.matches && !printing ? coloured(made) : made;
    const config = {
      responsive: true, displaylogo: false, displayModeBar: coarse ? false : "hover",
      modeBarButtonsToRemove: ["select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d"],
    };
    layout.autosize = true;
    if (printing) layout.width = PAPER_PX;
    if (coarse) layout.dragmode = false;
    if (innerWidth < 600) {
      for (const axis of Object.keys(layout)) if (axis.startsWith("xaxis")) layout[axis].nticks = 4;
    }
    place.style.minHeight = `${layout.height}px`;
    return Plotly.react(place, data, layout, config).then(() => place.classList.add("drawn"));
  };

  const places = [...document.querySelectorAll("[data-figure]")];
  const drawAll = () => places.map(draw);
  drawAll();
  prefersDark.addEventListener("change", drawAll);
  addEventListener("beforeprint", () => { printing = true; drawAll(); });
  addEventListener("afterprint", () => { printing = false; drawAll(); });
})();
