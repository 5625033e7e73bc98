// Signing in with a token, which the server turns into a session; it is kept nowhere else.

import { h, show } from "../base/dom.js";
import { send } from "../base/api.js";
import { failure, title } from "../base/router.js";
import { me } from "../base/session.js";

/** Only addresses of ours: what stands behind `to` is written by whoever made the link. */
const within = (to) => {
  try {
    const url = new URL(to ?? "/", location.origin);
    return url.origin === location.origin ? url.pathname + url.search : "/";
  } catch { return "/"; }
};

/** Show it. */
export const signIn = async (place, words, _signal, ready) => {
  title("Sign in");
  const token = h("input", { type: "password", required: true, autocomplete: "current-password", id: "token", spellcheck: "false" });
  const said = h("div", {});
  const submit = async (event) => {
    event.preventDefault();
    try {
      await send("/sign-in", { token: token.value.trim() });
      await me(true);
      location.assign(within(words.to));
    } catch (error) { show(said, failure(error)); token.focus(); }
  };
  show(place, h("div", { class: "title-row" }, h("h1", {}, "Sign in")),
    h("p", { class: "lead" }, "With the token that your admin gave you: you see your own work by name, and what part of the whole it is."),
    h("form", { class: "stack", onsubmit: submit }, h("label", {}, "Token", token), h("div", {}, h("button", { class: "strong" }, "Sign in")), said));
  ready();
};
