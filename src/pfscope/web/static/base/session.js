// Who is looking: role, name, and whether one can sign in or out.

import { get, ME, Refused, send, setCsrf } from "./api.js";

const UNKNOWN = { role: "admin", name: null, csrf: null, plain: true };
let known = null;

/** Who I am, as the server says; a server without sign-in serves everybody as an admin. */
export const me = async (again = false) => {
  if (known && !again) return known;
  try {
    known = await get(ME);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    known = error.status === 404 ? UNKNOWN : { role: "nobody", name: null, csrf: null };
  }
  setCsrf(known.csrf ?? null);
  return known;
};

export const mayAll = (who) => who.role === "admin";

export const signOut = async () => {
  await send("/sign-out");
  known = null;
};
