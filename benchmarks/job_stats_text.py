"""A text of any number of entries as a 2.16 OST prints it, of about 2.3 kB an entry."""

import random

OPERATIONS = (
    "read", "write", "getattr", "setattr", "punch", "sync", "destroy", "create", "statfs",
    "get_info", "set_info", "quotactl", "prealloc",
)  # fmt: skip
HEAD = """- job_id:          "{job}:{user}:{node}"
  snapshot_time:   1723114647.887515895 secs.nsecs
  start_time:      1723114600.{nanos:09d} secs.nsecs
  elapsed_time:    47.000000000 secs.nsecs
"""


def ost_text(entries, seed=7):
    """Return what `lctl get_param` prints for one target with so many entries."""
    rng = random.Random(seed)
    parts = ["obdfilter.scratch-OST0000.job_stats=\njob_stats:\n"]
    for i in range(entries):
        node = f"r{i % 18 + 1:02d}c{i % 48 + 1:02d}"
        parts.append(HEAD.format(job=11_000_000 + i, user=10_000 + i % 300, node=node, nanos=i))
        parts.extend(_bytes_line(name, rng) for name in ("read_bytes", "write_bytes"))
        parts.extend(_time_line(name, rng) for name in OPERATIONS)
    return "".join(parts).encode()


def _line(name, unit, samples, low, high, total, sumsq, tail=""):
    return (
        f"  {name + ':':<16} {{ samples: {samples:11d}, unit: {unit}, min: {low:8d}, "
        f"max: {high:8d}, sum: {total:16d}, sumsq: {sumsq:18d}{tail} }}\n"
    )


def _bytes_line(name, rng):
    if rng.random() > 0.6:
        return _line(name, "bytes", 0, 0, 0, 0, 0, ", hist: {  }")
    small, large = rng.randrange(1, 5000), rng.randrange(1, 5000)
    total, sumsq = small * 4096 + (large << 20), small * 4096**2 + (large << 40)
    hist = f", hist: {{ 4K: {small}, 1M: {large} }}"
    return _line(name, "bytes", small + large, 4096, 1 << 20, total, sumsq, hist)


def _time_line(name, rng):
    samples = rng.randrange(1, 1000) if rng.random() < 0.25 else 0
    some = samples > 0
    return _line(name, "usecs", samples, 3 * some, 900 * some, samples * 50, samples * 2600)
