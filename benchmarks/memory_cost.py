"""What a million living series cost in memory: the ingest and its store, in one process.

Run with `make bench`. Each of 40 targets shows 25 000 entries of Lustre 2.16, twice.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.job_stats_text import ost_text
from pfscope.frames import Origin, Section
from pfscope.ingest import Ingest
from pfscope.ingest.reading import TextFrame
from pfscope.store.embedded import open_store

TARGETS, ENTRIES = 40, 25_000
AIM_MB = 2000


def rss_mb():
    """Return the memory of this process, and the most that it ever was."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    most_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return pages * resource.getpagesize() / 1e6, most_kb * 1024 / 1e6


def main():
    text = ost_text(ENTRIES)
    before, _ = rss_mb()
    with tempfile.TemporaryDirectory() as directory, open_store(Path(directory)) as store:
        ingest = Ingest(store, wait_s=0)
        begin = time.perf_counter()
        for number in range(2):
            for target in range(TARGETS):
                named = text.replace(b"OST0000", b"OST%04x" % target, 1)
                origin = Origin("oss1", f"t{target}", number, (1_700_000_000 + number) * 10**9)
                ingest.take([TextFrame(origin, (Section("lctl", named),))])
        spent = time.perf_counter() - begin
        now, most = rss_mb()
        print(f"{len(ingest.memory):,} living series of Lustre 2.16, {spent:.0f} s")
        print(
            f"  memory {now - before:,.0f} MB above {before:,.0f} MB before; at most {most:,.0f} MB"
        )
        print(f"  aim: {AIM_MB} MB -> {'met' if now < AIM_MB else 'MISSED'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
