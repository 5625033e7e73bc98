"""How long it takes to find all runs of low bandwidth in a month of logs, with their factors.

Beside it: the same runs one by one, as a script would do it, measured on a few of them. The month
is made first, which takes a minute or two; `python -m benchmarks.factors_speed LAKE` takes one that
is there.
"""

import sys
import tempfile
import time
from pathlib import Path

from pfscope.cli.main import main as pfscope
from pfscope.mine.factors_low import Search, factors_of, low
from pfscope.mine.factors_rules import rules
from pfscope.mine.sources import open_lake

AIM_S, RUNS, ALONE, BELOW = 30.0, 450_000, 20, 10**9


def main(lake=None):
    if lake is not None:
        return _measure(Path(lake))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "month")
        pfscope(["mine", "synth", "--jobs", str(RUNS), "--out", str(place)])
        return _measure(place)


def _measure(place):
    asked = rules("write")
    with open_lake(place) as tables:
        at = time.perf_counter()
        found = low(tables, asked, Search(below=BELOW))
        together = time.perf_counter() - at
        jobs = tables.table("darshan_job")
        runs = tables.rows(jobs.count().as_table())[0][0].as_py()
        at = time.perf_counter()
        for log in found["log"][:ALONE].to_pylist():
            factors_of(tables, asked, jobs.filter(jobs.log == log))
        alone = (time.perf_counter() - at) / ALONE * found.num_rows
    files = sum(found["files"].to_pylist())
    print(f"factors of all runs below 1 GB/s: {found.num_rows:,} of {runs:,}, {files:,} files")
    print(f"  together    {together:10.1f} s   aim: under {AIM_S:g} s")
    print(f"  one by one  {alone:10.1f} s   ({alone / together:,.0f} times as long)")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
