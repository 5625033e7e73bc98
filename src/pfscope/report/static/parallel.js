// Parallel coordinates: sliders, or dragging along an axis, choose a part of each axis; lines and
// rows of the table that are outside of any are put back. Works by keyboard; nothing is fetched.
(() => {
  "use strict";
  const number = (value) => Number(value.toPrecision(3)).toString();

  const start = (place) => {
    const lines = [...place.querySelectorAll("polyline")];
    const axes = [...place.querySelectorAll("g.axis")];
    const sliders = axes.map((_, i) => [...place.querySelectorAll(`input[data-axis="${i}"]`)]);
    const boxes = [...place.querySelectorAll("input[data-application]")];
    const table = document.getElementById(place.dataset.table);
    const rows = table ? [...table.querySelectorAll("tbody tr")] : [];
    const told = place.querySelector("output.count");
    const values = lines.map((line) => line.dataset.values.split(",").map((v) => (v === "" ? null : Number(v))));
    const top = Number(place.dataset.top);
    const height = Number(place.dataset.height);

    const shown = (axis, share) => {
      const { low, high, log } = axes[axis].dataset;
      const value = log === "1"
        ? 10 ** (Number(low) + share * (Number(high) - Number(low)))
        : Number(low) + share * (Number(high) - Number(low));
      return number(value);
    };

    const update = () => {
      const ranges = sliders.map(([low, high]) => [Number(low.value) / 1000, Number(high.value) / 1000]);
      const off = new Set(boxes.filter((box) => !box.checked).map((box) => box.dataset.application));
      let kept = 0;
      lines.forEach((line, index) => {
        const inside = !off.has(line.dataset.application) && ranges.every(([low, high], axis) => {
          if (low === 0 && high === 1) return true;
          const value = values[index][axis];
          return value !== null && value >= low && value <= high;
        });
        line.classList.toggle("out", !inside);
        rows[index]?.classList.toggle("out", !inside);
        kept += inside;
      });
      ranges.forEach(([low, high], axis) => {
        const band = axes[axis].querySelector("rect.chosen");
        const whole = low === 0 && high === 1;
        band.setAttribute("y", top + (1 - high) * height);
        band.setAttribute("height", whole ? 0 : Math.max((high - low) * height, 1));
        sliders[axis].forEach((slider) => {
          slider.setAttribute("aria-valuetext", shown(axis, Number(slider.value) / 1000));
        });
        place.querySelector(`output[data-axis="${axis}"]`).textContent =
          whole ? "all" : `${shown(axis, low)} to ${shown(axis, high)}`;
      });
      told.textContent = `${kept} of ${lines.length} runs`;
    };

    const choose = (axis, one, other) => {
      const [low, high] = sliders[axis];
      low.value = Math.round(1000 * Math.min(one, other));
      high.value = Math.round(1000 * Math.max(one, other));
      update();
    };

    sliders.forEach(([low, high]) => {
      low.addEventListener("input", () => { if (+low.value > +high.value) high.value = low.value; update(); });
      high.addEventListener("input", () => { if (+high.value < +low.value) low.value = high.value; update(); });
    });
    boxes.forEach((box) => box.addEventListener("change", update));
    place.querySelector("button").addEventListener("click", () => {
      sliders.forEach(([low, high]) => { low.value = 0; high.value = 1000; });
      boxes.forEach((box) => { box.checked = true; });
      update();
    });

    const svg = place.querySelector("svg");
    const share = (event) => {
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      return Math.min(1, Math.max(0, 1 - (point.y - top) / height));
    };
    axes.forEach((axis, index) => {
      const grip = axis.querySelector("rect.grip");
      let from = null;
      grip.addEventListener("pointerdown", (event) => { from = share(event); grip.setPointerCapture(event.pointerId); });
      grip.addEventListener("pointermove", (event) => { if (from !== null) choose(index, from, share(event)); });
      grip.addEventListener("pointerup", (event) => {
        if (from !== null && Math.abs(share(event) - from) < 0.01) choose(index, 0, 1);
        from = null;
      });
    });
    rows.forEach((row, index) => {
      row.addEventListener("mouseenter", () => lines[index].classList.add("near"));
      row.addEventListener("mouseleave", () => lines[index].classList.remove("near"));
    });
    update();
  };

  document.querySelectorAll(".parallel").forEach(start);
})();
