// Settles on light or dark before anything is painted; runs first, and alone.
(() => {
  "use strict";
  let chosen = null;
  try { chosen = localStorage.getItem("pfscope-theme"); } catch { /* a browser that keeps nothing */ }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
