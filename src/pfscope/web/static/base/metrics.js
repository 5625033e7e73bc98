// What can be shown: metrics and operations, how they are called, and in which unit they count.

export const METRICS = [
  ["Sums", [
    ["iops", "All requests"], ["metadata", "Metadata, weighted"], ["bytes", "Bytes read and written"],
    ["load", "Effective load"],
  ]],
  ["Data", [
    ["read_bytes", "Bytes read"], ["write_bytes", "Bytes written"], ["read", "read"], ["write", "write"],
    ["punch", "punch"], ["sync", "sync"], ["prealloc", "prealloc"], ["get_info", "get_info"], ["set_info", "set_info"],
    ["quotactl", "quotactl"],
  ]],
  ["Metadata", [
    "open", "close", "getattr", "setattr", "getxattr", "setxattr", "mknod", "create", "destroy", "link", "unlink",
    "mkdir", "rmdir", "rename", "statfs",
  ].map((name) => [name, name])],
];

const NAMES = new Map(METRICS.flatMap(([, list]) => list));

export const title = (metric) => NAMES.get(metric) ?? metric;

export const unitOf = (metric) => {
  if (metric === "load") return "load";
  return metric === "bytes" || metric.endsWith("_bytes") ? "bytes" : "requests";
};

/** Keys by which usage is grouped: how one and many of them are called. */
export const KEYS = new Map([
  ["user", "Users"], ["job", "Jobs"], ["node", "Nodes"], ["project", "Projects"], ["group", "Groups"],
  ["executable", "Programs"], ["partition", "Partitions"], ["target", "Targets"], ["server", "Servers"],
  ["filesystem", "File systems"], ["operation", "Operations"],
]);

export const ONE = new Map([
  ["user", "User"], ["job", "Job"], ["node", "Node"], ["project", "Project"], ["group", "Group"],
  ["executable", "Program"], ["partition", "Partition"], ["target", "Target"], ["server", "Server"],
  ["filesystem", "File system"], ["operation", "Operation"],
]);
