// What a job's operations say about it, and what its owner can do, in plain words.

const part = (operations, names) => {
  const all = Object.values(operations).reduce((a, b) => a + b, 0);
  return all ? names.reduce((sum, name) => sum + (operations[name] ?? 0), 0) / all : 0;
};

const SMALL = 64 * 1024;

/** Rules in the order in which they are tried: when it holds, what is seen, what to do. */
const RULES = [
  [({ operations, most }) => part(operations, ["mknod", "create", "unlink", "destroy"]) > 0.3 && most > 5,
    "It makes and removes many files.",
    "Set TMPDIR to local disk or /dev/shm, so that short-lived files never reach the file system."],
  [({ operations, most }) => part(operations, ["open", "close"]) > 0.45 && most > 20,
    "It opens and closes files again and again.",
    "Open a file once and keep it open; put many small files into one (tar, HDF5, SQLite, a container image), or copy them to local disk first."],
  [({ operations, most }) => part(operations, ["getattr", "getxattr", "statfs"]) > 0.6 && most > 20,
    "It mostly asks for the attributes of files.",
    "Wait for events instead of looking, or look less often; avoid ls -l, du and find in loops."],
  [({ readSize, operations }) => readSize && readSize < SMALL && part(operations, ["read"]) > 0.3,
    "It reads in small pieces.",
    "Read whole files or blocks of a megabyte and more, or copy the data to local disk first."],
  [({ writeSize, operations }) => writeSize && writeSize < SMALL && part(operations, ["write"]) > 0.3,
    "It writes in small pieces.",
    "Collect results in memory and write them in large blocks; log less often."],
  [({ operations }) => part(operations, ["read", "write"]) > 0.5,
    "It reads and writes in large pieces, which is what the file system is made for.",
    "Nothing need change. For files of many gigabytes, stripes over several targets help: lfs setstripe -c 8."],
];

/** Return what is seen and what can be done about a job. */
export const advise = (job) => {
  const rule = RULES.find(([holds]) => holds(job));
  return rule ? { seen: rule[1], todo: rule[2], fine: rule === RULES.at(-1) } : { seen: "It does a little of everything.", todo: "Nothing stands out.", fine: true };
};
