// Draws each figure of the page and writes it into the page as a data URI, one after the other.
(async () => {
  "use strict";
  const [wanted, ...figures] = [...document.querySelectorAll("script[type='application/json']")]
    .map((block) => JSON.parse(block.textContent));
  const write = (text) => {
    const place = document.createElement("pre");
    place.className = "drawn";
    place.textContent = text;
    document.body.append(place);
  };
  const inBase64 = (text) => {
    const bytes = new TextEncoder().encode(text);
    let binary = "";
    for (let i = 0; i < bytes.length; i += 8192) {
      binary += String.fromCharCode(...bytes.subarray(i, i + 8192));
    }
    return btoa(binary);
  };
  for (const figure of figures) {
    try {
      figure.layout.paper_bgcolor = "#ffffff";
      const height = figure.layout.height;
      const image = await Plotly.toImage(figure, { ...wanted, height });
      const [head, svg] = image.split("data:image/svg+xml,");
      write(svg && !head ? `data:image/svg+xml;base64,${inBase64(decodeURIComponent(svg))}` : image);
    } catch (error) {
      write(`error: ${error.message}`);
    }
  }
})();
