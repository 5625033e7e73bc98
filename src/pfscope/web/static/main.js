// The page begins here: who is looking, the bar at the top, and the views by their addresses.

import { h, show } from "./base/dom.js";
import { mayAll, me, signOut } from "./base/session.js";
import { start } from "./base/router.js";
import { now } from "./views/now.js";
import { historyView } from "./views/history.js";
import { incidentView } from "./views/incident.js";
import { incidentsView } from "./views/incidents.js";
import { mine } from "./views/mine.js";
import { quality } from "./views/quality.js";
import { signIn } from "./views/sign_in.js";
import { thing } from "./views/thing.js";

const VIEWS = {
  "/": now,
  "/history": historyView,
  "/incidents": incidentsView,
  "/incident": incidentView,
  "/mine": mine,
  "/quality": quality,
  "/sign-in": signIn,
  ...Object.fromEntries(["user", "job", "project", "group", "node", "executable", "partition", "target", "server", "filesystem"]
    .map((key) => [`/${key}`, thing(key)])),
};

const anybody = () => true;
const LINKS = [
  ["/", "Now", anybody], ["/history", "History", anybody], ["/incidents", "Incidents", anybody],
  ["/mine", "My jobs", anybody], ["/quality", "Data quality", mayAll],
];

const themeButton = () => {
  const root = document.documentElement;
  const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const button = h("button", { type: "button", class: "quiet", onclick: () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try { localStorage.setItem("pfscope-theme", root.dataset.theme); } catch { /* it lasts for this page */ }
    name();
    document.dispatchEvent(new CustomEvent("pfscope:theme"));
  } });
  const name = () => show(button, dark() ? "Light" : "Dark");
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { name(); document.dispatchEvent(new CustomEvent("pfscope:theme")); });
  name();
  return button;
};

const account = (who) => {
  if (who.plain) return null;
  if (!who.name) return h("a", { href: "/sign-in" }, "Sign in");
  return [h("span", { class: "who" }, who.name, " · ", who.role), who.session !== false && h("button", {
    type: "button", class: "quiet", onclick: async () => { await signOut(); location.assign("/sign-in"); } }, "Sign out")];
};

const bar = (who) => {
  const links = LINKS.filter(([, , may]) => may(who)).map(([href, text]) => h("a", { href }, text));
  const mark = (path) => links.forEach((link) => link.toggleAttribute("aria-current", false)
    || (link.getAttribute("href") === path && link.setAttribute("aria-current", "page")));
  document.addEventListener("pfscope:view", (event) => mark(event.detail.path));
  show(document.getElementById("top"), h("a", { href: "/", class: "brand" }, "pfscope"),
    h("nav", { "aria-label": "Views" }, links), h("div", { class: "account" }, themeButton(), account(who)));
};

bar(await me());
start(VIEWS);

