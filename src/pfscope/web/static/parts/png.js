// A picture on the page as a PNG: SVG with the colours that it has now, or a canvas as it is.

const TAKEN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "text-anchor"];
const SCALE = 2;
const TITLE_PX = 34;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Return a copy that needs no style sheet. */
const standing = (svg) => {
  const copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll("*")];
  const to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const name of TAKEN) to[i].setAttribute(name, style.getPropertyValue(name));
    to[i].removeAttribute("class");
    to[i].removeAttribute("style");
  });
  const { width, height } = svg.getBoundingClientRect();
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  return new XMLSerializer().serializeToString(copy);
};

const image = (svg) => new Promise((done, failed) => {
  const made = new Image();
  made.onload = () => done(made);
  made.onerror = () => failed(new Error("the picture cannot be drawn"));
  made.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standing(svg))}`;
});

/** Offer a picture as a file; `parts` is one element or several, side by side in rows as they stand. */
export const toPng = async (parts, title, name) => {
  const list = (Array.isArray(parts) ? parts : [parts]).filter(Boolean);
  const boxes = list.map((part) => part.getBoundingClientRect());
  const left = Math.min(...boxes.map((b) => b.left)), top = Math.min(...boxes.map((b) => b.top));
  const width = Math.max(...boxes.map((b) => b.right)) - left, height = Math.max(...boxes.map((b) => b.bottom)) - top;
  const canvas = document.createElement("canvas");
  canvas.width = (width + 24) * SCALE;
  canvas.height = (height + TITLE_PX + 18) * SCALE;
  const pen = canvas.getContext("2d");
  pen.scale(SCALE, SCALE);
  pen.fillStyle = colour("--paper");
  pen.fillRect(0, 0, width + 24, height + TITLE_PX + 18);
  pen.fillStyle = colour("--ink");
  pen.font = "600 15px system-ui, sans-serif";
  pen.fillText(title, 12, 22);
  for (const [i, part] of list.entries()) {
    const drawn = part instanceof SVGElement ? await image(part) : part;
    pen.drawImage(drawn, boxes[i].left - left + 12, boxes[i].top - top + TITLE_PX, boxes[i].width, boxes[i].height);
  }
  canvas.toBlob((blob) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${name}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
};
