// What is new: the server pushes, and where it cannot, the page looks again now and then.

const LOOK_MS = 15000;
const AGAIN_MS = 5000;

/** Call `changed()` whenever there is newer data, until the signal; `state(text)` hears how it goes. */
export const watch = (changed, state, signal) => {
  let source = null;
  let timer = null;
  let pushed = false;
  const look = () => { timer = setTimeout(() => { if (!document.hidden) changed(); look(); }, LOOK_MS); };
  const listen = () => {
    source = new EventSource("/api/v1/live");
    source.onopen = () => { pushed = true; state("live"); };
    source.onmessage = () => { if (!document.hidden) changed(); };
    source.addEventListener("data", () => { if (!document.hidden) changed(); });
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) { state("away"); return; }
      if (pushed) { state("away"); timer = setTimeout(listen, AGAIN_MS); } else if (!timer) { state("looking"); look(); }
    };
  };
  const back = () => { if (!document.hidden) changed(); };
  document.addEventListener("visibilitychange", back);
  listen();
  signal.addEventListener("abort", () => {
    source?.close();
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", back);
  });
};
