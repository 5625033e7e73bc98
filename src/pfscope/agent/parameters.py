"""What the agent collects, in groups, by Lustre's parameter names with wildcards.

One spelling serves both ways of reading: a name is a path below Lustre's roots with dots for
slashes, and it is what `lctl get_param` takes.
"""

from typing import Dict, Iterable, List, Tuple

JOBS = "jobs"
HOST = "host"
CLEANUP_INTERVALS = ("mdt.*.job_cleanup_interval", "obdfilter.*.job_cleanup_interval")
TARGET_FOLDERS = ("mdt", "obdfilter")
BOOT_ID = "/proc/sys/kernel/random/boot_id"

_SPACE = ("kbytestotal", "kbytesfree", "kbytesavail", "filestotal", "filesfree")
_STATE = ("num_exports", "recovery_status", "eviction_count")
_THREADS = ("stats", "threads_min", "threads_max", "threads_started")
_LOCKS = ("lock_count", "pool.granted", "pool.grant_rate", "pool.cancel_rate")


def _each(prefixes: Iterable[str], names: Iterable[str]) -> Tuple[str, ...]:
    kept = list(names)
    return tuple("%s.%s" % (prefix, name) for prefix in prefixes for name in kept)


GROUPS: Dict[str, Tuple[str, ...]] = {
    JOBS: ("mdt.*.job_stats", "obdfilter.*.job_stats") + CLEANUP_INTERVALS,
    "targets": (
        ("mdt.*.md_stats", "obdfilter.*.stats", "osd-*.*.brw_stats")
        + _each(("mdt.*", "obdfilter.*"), _SPACE + _STATE)
        + _each(("osd-*.*-MDT*",), _SPACE)
    ),
    "services": _each(("mds.MDS.*", "ost.OSS.*"), _THREADS),
    "locks": _each(("ldlm.namespaces.*",), _LOCKS),
    "exports": ("mdt.*.exports.*.stats", "obdfilter.*.exports.*.stats"),
    HOST: ("/proc/loadavg", "/proc/stat", "/proc/meminfo", "/proc/uptime"),
}
"""`exports` holds one text for each client and target: a thousand clients make it costly."""

DEFAULT_GROUPS = tuple(name for name in GROUPS if name != "exports")


def lustre_patterns(groups: Iterable[str]) -> List[str]:
    """Return the parameter names, with wildcards, of some groups."""
    return [pattern for group in groups if group != HOST for pattern in GROUPS[group]]
