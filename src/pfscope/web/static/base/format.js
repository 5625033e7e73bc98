// Numbers and times as people read them: three digits and an SI prefix, shares, UTC.

const PREFIXES = ["", "k", "M", "G", "T", "P", "E"];
export const NOTHING = "–";
const THIN = "\u202f";

export const si = (value, unit = "") => {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  let size = Math.abs(value);
  let power = 0;
  while (Number(size.toPrecision(3)) >= 1000 && power < PREFIXES.length - 1) { size /= 1000; power += 1; }
  const digits = size === 0 ? "0" : size < 0.001 ? "< 0.001"
    : size < 1 ? String(Number(size.toPrecision(2))) : String(Number(size.toPrecision(3)));
  const behind = `${PREFIXES[power]}${unit}`;
  return `${value < 0 ? "−" : ""}${digits}${behind ? THIN + behind : ""}`;
};

/** A rate per second of `requests`, `bytes`, `seconds`, or a load, which has no unit. */
export const rate = (value, unit) => {
  if (unit === "bytes") return si(value, "B/s");
  if (unit === "load") return si(value);
  if (unit === "seconds") return si(value);
  return si(value) === NOTHING ? NOTHING : `${si(value)}/s`;
};

export const share = (part) => {
  if (part === null || part === undefined || !Number.isFinite(part)) return NOTHING;
  if (part > 0 && part < 0.001) return `< 0.1${THIN}%`;
  return `${part > 0 && part < 0.0995 ? (part * 100).toFixed(1) : Math.round(part * 100)}${THIN}%`;
};

/** How many times as much it is: `3.4 ×`, `new`, `the same`. */
export const factor = (now, before) => {
  if (!Number.isFinite(now) || !Number.isFinite(before)) return NOTHING;
  if (before === 0) return now ? "new" : "the same";
  const times = now / before;
  if (times > 0.95 && times < 1.05) return "the same";
  return `${times < 100 ? Number(times.toPrecision(2)) : si(times)}${THIN}×`;
};

export const count = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, THIN);
export const howMany = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;

const collator = new Intl.Collator("en", { numeric: true });

/** Names as people count: oss2 before oss10, and targets by their hexadecimal number. */
export const inOrder = (a, b) => {
  const [one, other] = [a, b].map((name) => /^(.*-(?:OST|MDT))([0-9a-f]{4,8})$/.exec(name ?? ""));
  if (one && other && one[1] === other[1]) return parseInt(one[2], 16) - parseInt(other[2], 16);
  return collator.compare(String(a), String(b));
};

const two = (n) => String(n).padStart(2, "0");

/** Milliseconds since 1970 as `2022-10-27T08:30:00Z`. */
export const iso = (ms) => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

export const clock = (ms, seconds = false) => {
  const d = new Date(ms);
  return `${two(d.getUTCHours())}:${two(d.getUTCMinutes())}${seconds ? `:${two(d.getUTCSeconds())}` : ""}`;
};

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
export const day = (ms) => new Date(ms).toISOString().slice(0, 10);
export const weekday = (ms) => `${DAYS[new Date(ms).getUTCDay()]} ${day(ms)}`;
export const when = (ms) => `${day(ms)} ${clock(ms)}`;

/** From when to when; the day is said once where it is the same. */
export const period = (from, to) => (day(from) === day(to)
  ? `${weekday(from)}, ${clock(from)} to ${clock(to)}` : `${when(from)} to ${when(to)}`);

export const length = (ms) => {
  const minutes = Math.round(ms / 60000);
  if (ms < 90000) return howMany(Math.round(ms / 1000), "second");
  if (minutes < 120) return howMany(minutes, "minute");
  const hours = ms / 3600000;
  if (hours < 48) return `${Number(hours.toFixed(1))} hours`;
  return `${Number((hours / 24).toFixed(1))} days`;
};

/** A duration as questions take it. */
export const seconds = (ms) => `${Math.max(1, Math.round(ms / 1000))}s`;
