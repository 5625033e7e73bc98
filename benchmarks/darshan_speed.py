"""How fast Darshan's logs are read, into columns and into a lake, beside PyDarshan.

Run with `make bench`. Real logs are those of PyDarshan's own wheel, of at most 20 kB each, read
again and again; PyDarshan reads the same modules into data frames. A large log is generated.
Rates are by the time of one core, so that what else the machine does makes no difference.
"""

import sys
import tempfile
import time
import warnings
from pathlib import Path

from benchmarks.darshan_log import big_log
from pfscope.logs.darshan import DarshanLog
from pfscope.mine.darshan_import import write_logs
from pfscope.mine.darshan_runs import read_run
from pfscope.mine.inputs import Found, Period, digest
from tests.support.darshan_logs import WHEEL

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import darshan

MODULES = ("POSIX", "MPI-IO", "STDIO")
SMALL, LARGE, LARGE_THEIRS = 600, 500_000, 20_000
ROUNDS = 5
AIM_LOGS, AIM_RECORDS = 600, 500_000


def theirs(path, modules=MODULES):
    """Read a log as PyDarshan's users do."""
    with darshan.DarshanReport(str(path), read_all=False) as report:
        for module in modules:
            if module in report.modules:
                report.mod_read_all_records(module, dtype="numpy")
                report.records[module].to_df()


def ours(path):
    """Read all that the lake keeps of a log."""
    read_run(path.read_bytes(), "", path.name)


def rate(function, inputs, count):
    """Return how many of `count` are done in a second of one core, at best."""
    best = 0.0
    for _ in range(ROUNDS):
        begin = time.process_time()
        for one in inputs:
            function(one)
        best = max(best, count / (time.process_time() - begin))
    return best


def small(paths):
    """Compare readers on small real logs."""
    many = [paths[i % len(paths)] for i in range(SMALL)]
    speed = rate(ours, many, SMALL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference = rate(theirs, many[: SMALL // 6], SMALL // 6)
    print(f"{len(paths)} small real logs, {SMALL} times in all, one core")
    print(f"  pfscope                  {speed:12,.0f} logs/s")
    print(f"  PyDarshan, data frames   {reference:12,.0f} logs/s   {speed / reference:6.1f} times")
    print(f"  pfscope, to the lake     {to_lake(many):12,.0f} logs/s")
    print(f"  aim: {AIM_LOGS} logs/s -> {'met' if speed >= AIM_LOGS else 'MISSED'}")


def to_lake(paths):
    """Return how many logs a process takes into a lake in a second."""
    found = [Found(str(p), p.stat().st_size, 0, digest(str(p))) for p in paths]
    with tempfile.TemporaryDirectory() as directory:
        return rate(lambda f: write_logs(Path(directory), "b", f, Period()), [found], len(found))


def large():
    """Compare readers on one large log."""
    print(f"one log of {LARGE:,} POSIX records (PyDarshan: {LARGE_THEIRS:,}), one core")
    data = big_log(LARGE)
    speed = rate(lambda raw: DarshanLog(raw).counters("POSIX"), [data], LARGE)
    whole = rate(lambda raw: read_run(raw, "", "x"), [data], LARGE)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "large.darshan")
        path.write_bytes(big_log(LARGE_THEIRS))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reference = rate(lambda p: theirs(p, ["POSIX"]), [path], LARGE_THEIRS)
    print(f"  pfscope, all counters    {speed:12,.0f} records/s")
    print(f"  pfscope, with Lustre and names {whole:6,.0f} records/s")
    print(
        f"  PyDarshan, data frames   {reference:12,.0f} records/s   {speed / reference:6.1f} times"
    )
    print(f"  aim: {AIM_RECORDS:,} records/s -> {'met' if speed >= AIM_RECORDS else 'MISSED'}")


def main():
    small(sorted(p for p in WHEEL.rglob("*.darshan") if 0 < p.stat().st_size <= 20_000))
    large()
    return 0


if __name__ == "__main__":
    sys.exit(main())
