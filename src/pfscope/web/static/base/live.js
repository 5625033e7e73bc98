// What is new, pushed by the server; where it cannot, the page looks again now and then. A page that
// nobody looks at lets go of its connection.

import { get, Refused } from "./api.js";

const AGAIN_MS = 15000;

/**
 * Hear documents of `live` until the signal: `heard(document)`; `state(name)` tells how it goes: live, looking, away;
 * `refused(error)` hears why there are none.
 */
export const watch = ({ live, once, heard, state, refused, signal }) => {
  let source = null;
  let timer = null;
  const stop = () => { source?.close(); source = null; clearTimeout(timer); timer = null; };
  const look = async () => {
    try {
      const told = await get(once, signal);
      if (signal.aborted) return;
      heard(told);
      state("looking");
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Refused)) throw error;
      if (error.status) refused(error); else state("away");
    }
    if (!signal.aborted && !document.hidden) timer = setTimeout(listen, AGAIN_MS);
  };
  const listen = () => {
    stop();
    source = new EventSource(live);
    source.addEventListener("now", (event) => { state("live"); heard(JSON.parse(event.data)); });
    source.onerror = () => {
      if (source?.readyState === EventSource.CLOSED) { stop(); look(); } else state("away");
    };
  };
  const turned = () => (document.hidden ? stop() : listen());
  document.addEventListener("visibilitychange", turned);
  signal.addEventListener("abort", () => { stop(); document.removeEventListener("visibilitychange", turned); });
  if (!document.hidden) listen();
};
