// Addresses and views: every view is a path and a query that can be shared; going back works.

import { h, keepingFocus, say, show } from "./dom.js";
import { Refused } from "./api.js";

const SIGN_IN = "/sign-in";
let views = {};
let current = null;

export const here = () => ({ path: location.pathname, words: Object.fromEntries(new URLSearchParams(location.search)) });

const draw = async () => {
  current?.abort();
  const mine = new AbortController();
  current = mine;
  const { path, words } = here();
  const view = views[path] ?? views["/"];
  const place = h("div", { class: "view" });
  const content = document.getElementById("content");
  content.style.minHeight = `${content.offsetHeight}px`; // what comes piece by piece does not make the page jump
  document.dispatchEvent(new CustomEvent("pfscope:view", { detail: { path } }));
  try {
    await view(place, words, mine.signal, () => mine.signal.aborted || keepingFocus(content, () => show(content, place)));
  } catch (error) {
    if (mine.signal.aborted) return;
    show(content, failure(error));
    if (!(error instanceof Refused)) throw error;
  } finally {
    if (current === mine) content.style.minHeight = "";
  }
};

/** What went wrong, in words. */
export const failure = (error) => h("div", { class: "notice warn", role: "alert" },
  h("p", {}, h("strong", {}, "This cannot be shown: "), error.message, "."),
  error.hint && h("p", {}, error.hint, "."));

/** Go to an address of ours. */
export const go = (address, replace = false) => {
  history[replace ? "replaceState" : "pushState"](null, "", address);
  draw();
  if (!replace) { scrollTo(0, 0); document.getElementById("content").focus({ preventScroll: true }); }
};

/** Say in the address what the view shows, without drawing it anew; a `step` is one that can be gone back. */
export const note = (parameters, step = false) => {
  const words = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null || value === undefined || value === "") words.delete(name); else words.set(name, value);
  }
  const text = words.toString();
  const wanted = text ? `${location.pathname}?${text}` : location.pathname;
  if (wanted !== location.pathname + location.search) history[step ? "pushState" : "replaceState"](null, "", wanted);
};

/** Change words of the address, and draw the view. */
export const change = (parameters) => { note(parameters, true); draw(); };

/** Begin: links within the page change the view, others do what links do. */
export const start = (found) => {
  views = found;
  addEventListener("popstate", draw);
  document.addEventListener("pfscope:unknown", () => { // nobody is signed in, or no longer
    if (location.pathname !== SIGN_IN) go(`${SIGN_IN}?to=${encodeURIComponent(location.pathname + location.search)}`, true);
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !plain || link.hasAttribute("download") || link.target) return;
    const href = link.getAttribute("href") ?? link.href?.baseVal;
    const url = new URL(href, location.href);
    if (href.startsWith("#")) { event.preventDefault(); document.getElementById(href.slice(1))?.focus(); return; }
    if (url.origin !== location.origin || !(url.pathname in views)) return;
    event.preventDefault();
    go(url.pathname + url.search);
  });
  draw();
};

export const title = (text) => {
  document.title = text ? `${text} · pfscope` : "pfscope";
  say(text);
};
