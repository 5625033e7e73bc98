"""How fast job_stats is read: the array scanner beside a line-by-line reader and a YAML loader.

Run with `make bench`. All three read the same text of a 2.16 OST in one run; the slow ones read the
first part of it only, and their rates are told.
"""

import sys
import time

import yaml

from benchmarks.job_stats_text import ost_text
from pfscope.lustre.job_stats import parse_job_stats
from tests.support.reference_reader import read

ENTRIES = 20_000
AIM = 40_000


def rate(reader, text, entries, rounds):
    """Return the best rate of some rounds, in entries per second."""
    best = 0.0
    for _ in range(rounds):
        begin = time.perf_counter()
        reader(text)
        best = max(best, entries / (time.perf_counter() - begin))
    return best


def main():
    text = ost_text(ENTRIES)
    print(f"job_stats of Lustre 2.16: {ENTRIES} entries, {len(text) / 1e6:.0f} MB, one core")
    parse_job_stats(ost_text(100))
    ours = rate(parse_job_stats, text, ENTRIES, 5)
    lines = rate(read, ost_text(ENTRIES // 10), ENTRIES // 10, 3)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    value = ost_text(300).partition(b"\n")[2]
    by_yaml = rate(lambda t: yaml.load(t, loader), value, 300, 1)
    for name, speed in (
        ("pfscope, arrays", ours),
        ("line by line", lines),
        (f"PyYAML ({loader.__name__})", by_yaml),
    ):
        print(f"  {name:24} {speed:12,.0f} entries/s   ours is {ours / speed:6.1f} times as fast")
    print(f"  aim: {AIM:,} entries/s -> {'met' if ours >= AIM else 'MISSED'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
