// My jobs, in plain words: what each of them does to the file system, and what its owner can do.

import { address, h, show } from "../base/dom.js";
import { advise } from "../base/advice.js";
import { exactly, questionOrNone } from "../base/api.js";
import { howMany, rate, share, si } from "../base/format.js";
import { goesOn, incidents } from "../base/incidents.js";
import { change, title } from "../base/router.js";
import { me } from "../base/session.js";
import { notice, spanList, spanMs, tiles, waiting } from "../parts/controls.js";
import { incidentLines } from "../parts/incidents.js";
import { named } from "../parts/names.js";

const JOBS = 8;
const LITTLE = 0.01;

const sizesOf = (rows, operation) => new Map(rows.filter((row) => row.operation === operation).map((row) => [row.job, row.mean_size]));

/** What each job did, by operation, with the size of its requests. */
const load = async (user, when, signal) => {
  const mine = { user: exactly(user), ...when };
  const [jobs, operations, bytes, all] = await Promise.all([
    questionOrNone("top", { by: "job", ...mine, limit: JOBS }, signal),
    questionOrNone("top", { by: ["job", "operation"], ...mine, limit: 200 }, signal),
    questionOrNone("top", { by: "job", operation: "bytes", ...mine, limit: 50 }, signal),
    questionOrNone("top", { by: "filesystem", ...when, limit: 1 }, signal),
  ]);
  const moved = ["read", "write"].filter((name) => operations.rows.some((row) => row.operation.startsWith(name)));
  const sizes = moved.length ? await questionOrNone("sizes", { by: "job", ...mine }, signal) : { rows: [] };
  const transferred = new Map(bytes.rows.map((row) => [row.job, row]));
  const [readSizes, writeSizes] = [sizesOf(sizes.rows, "read"), sizesOf(sizes.rows, "write")];
  return { seen: all.from ? { from: all.from, to: all.to } : when, whole: all.rows[0]?.rate_mean ?? 0, jobs: jobs.rows.map((row) => ({
    ...row, most: row.rate_max, bytes: transferred.get(row.job),
    operations: Object.fromEntries(operations.rows.filter((one) => one.job === row.job).map((one) => [one.operation, one.total])),
    readSize: readSizes.get(row.job), writeSize: writeSizes.get(row.job),
  })) };
};

const mostly = (operations) => Object.entries(operations).sort((a, b) => b[1] - a[1]).slice(0, 2).map(([name]) => name).join(" and ");

const card = (job, whole) => {
  const { seen, todo, fine } = advise(job);
  const part = whole ? job.rate_mean / whole : 0;
  return h("section", { class: `card ${fine ? "" : "notable"}` },
    h("h2", {}, job.job === null ? "Work outside of jobs" : ["Job ", named("job", job.job)]),
    h("p", { class: "words" }, `${seen} It makes ${si(job.rate_mean)} requests a second on average and ${si(job.rate_max)} at most, mostly ${mostly(job.operations) || "nothing"}`,
      job.bytes ? `, and moves ${rate(job.bytes.rate_mean, "bytes")}` : null, `. That is ${share(part)} of all requests to the file system and ${share(job.share)} of yours.`),
    h("p", {}, h("strong", {}, fine ? "" : "What you can do: "), todo));
};

/** Whether there is something to say of a job; the others share one line. */
const tells = (job) => job.share >= LITTLE || !advise(job).fine;

const quiet = (jobs) => (jobs.length ? h("p", { class: "note" }, "Hardly to be noticed: ",
  jobs.map((job, i) => [i ? ", " : null, job.job === null ? "work outside of jobs" : named("job", job.job)]), ".") : null);

const summary = (found, whole) => {
  const mine = found.reduce((sum, job) => sum + job.rate_mean, 0);
  const part = whole ? mine / whole : 0;
  const notable = found.filter((job) => !advise(job).fine && job.rate_mean / (whole || 1) > 0.02);
  if (part < 0.02) return notice("good", h("p", {}, "Your work is a small part of the load: nobody notices it."));
  if (!notable.length) return notice("good", h("p", {}, `Your work is ${share(part)} of the load, and does what the file system is good at.`));
  return notice("warn", h("p", {}, `${howMany(notable.length, "job")} of yours could go easier on the file system, and would run faster for it.`));
};

const ask = (who) => {
  const input = h("input", { type: "text", name: "user", required: true });
  return h("form", { class: "stack", onsubmit: (event) => { event.preventDefault(); change({ name: input.value }); } },
    h("p", { class: "note" }, who.role === "admin" ? "What a user would see here:" : "You are not signed in as a user of the file system."),
    h("label", {}, "User", input), h("div", {}, h("button", {}, "Show")));
};

/** Show it. */
export const mine = async (place, words, signal, ready) => {
  const who = await me();
  const user = words.name ?? who.user ?? (who.role === "admin" ? null : who.name);
  const span = words.span ?? "1d";
  title("My jobs");
  const slot = h("div", { class: "gap" }, waiting());
  show(place, h("div", { class: "title-row" }, h("h1", {}, "My jobs"), user && h("span", { class: "pill" }, "user ", user)),
    h("p", { class: "lead" }, "What your work does to the file system, and what would make it faster for you and for all."),
    user && h("div", { class: "toolbar" }, spanList(span, (to) => change({ span: to })), h("a", { class: "small", href: address("/user", { name: user, span }) }, "All figures")), slot);
  ready();
  if (!user) { show(slot, ask(who)); return; }
  const when = { from: `-${spanMs(span) / 1000}s` };
  const { jobs, whole, seen } = await load(user, when, signal);
  const told = await incidents(seen, signal);
  if (!jobs.length) { show(slot, notice("", h("p", {}, "Nothing of yours touched the file system in this time."))); return; }
  const own = told.list.filter((one) => one.causes?.some((cause) => cause.user === user));
  const total = jobs.reduce((sum, job) => sum + job.rate_mean, 0);
  show(slot, summary(jobs, whole), tiles([["Your requests", rate(total, "requests"), `${share(whole ? total / whole : 0)} of all`],
    ["Jobs", String(jobs.filter((job) => job.job !== null).length), jobs.length === JOBS ? "those that did most" : "in this time"],
    ["Incidents with you", String(own.length), own.some(goesOn) ? "one goes on" : "none goes on"]]),
  own.length ? h("section", {}, h("h2", {}, "Incidents"), incidentLines(own.slice(0, 5))) : null,
  h("div", { class: "cards" }, jobs.filter(tells).map((job) => card(job, whole))), quiet(jobs.filter((job) => !tells(job))));
};
