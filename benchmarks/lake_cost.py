"""What a run of a million files costs on its way into a lake: the memory of the process that reads.

Run with `make bench`. The process is one of an import: it reads the log, puts its records together
and writes the lake's tables. PyDarshan reads a twentieth of it into data frames beside it.
"""

import multiprocessing
import sys
import tempfile
import time
import warnings
from pathlib import Path

from benchmarks.darshan_log import big_log
from pfscope.mine.darshan_import import write_logs
from pfscope.mine.inputs import Found, Period, digest

FILES, THEIRS = 1_000_000, 50_000
AIM_MB = 2000


def ours(path):
    """Take a log into a lake; return the most memory in MB, the seconds, and the rows."""
    begin = time.process_time()
    file = Path(path)
    with tempfile.TemporaryDirectory() as directory:
        found = Found(path, file.stat().st_size, 0, digest(path))
        (record,) = write_logs(Path(directory), "b", [found], Period())
        size = sum(part.stat().st_size for part in Path(directory).rglob("*.parquet"))
    return most_mb(), time.process_time() - begin, record.rows, size / 1e6


def theirs(path):
    """Read a log into data frames."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import darshan

        with darshan.DarshanReport(path, read_all=False) as report:
            report.mod_read_all_records("POSIX", dtype="numpy")
            report.records["POSIX"].to_df()
    return most_mb()


def most_mb():
    """Return the most memory that this process had; getrusage would count its parent's too."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024 / 1e6
    raise RuntimeError("the kernel does not tell")


def main():
    with tempfile.TemporaryDirectory() as directory:
        fresh = multiprocessing.get_context("spawn")
        sizes = {}
        for files in (FILES, THEIRS):
            path = Path(directory, f"{files}.darshan")
            path.write_bytes(big_log(files))
            sizes[files] = str(path)
        with fresh.Pool(1, maxtasksperchild=1) as pool:
            most, spent, rows, parquet = pool.apply(ours, [sizes[FILES]])
            reference = pool.apply(theirs, [sizes[THEIRS]])
        packed = Path(sizes[FILES]).stat().st_size / 1e6
    print(
        f"one log of {FILES:,} files ({packed:.0f} MB): {rows:,} rows, {parquet:.0f} MB of Parquet"
    )
    print(f"  pfscope                  at most {most:6,.0f} MB, {spent:.0f} s of one core")
    print(f"  PyDarshan, {THEIRS:,} of them  {reference:6,.0f} MB")
    print(f"  aim: {AIM_MB} MB -> {'met' if most <= AIM_MB else 'MISSED'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
