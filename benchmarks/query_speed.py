"""How fast questions about a Puhti-like day are answered, beside windows over raw counters.

Run with `make bench`. The day has about 16 million observed entries. The same questions are put to
pfscope, which stores increments, and in SQL to a DuckDB that holds what was observed: the counter
of `read` for every entry, observation and OST. `--day DIR` keeps the day there for the next time.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import pfscope
from pfscope.frames import iter_frames
from pfscope.ingest.reading import read_frame
from pfscope.store.embedded import open_store
from pfscope.untrusted import ascii_text

ROUNDS = 5
AIMS_S = {
    "density by user over the day": 0.3,
    "totals per target over the day": 0.3,
    "top users of the last hour": 0.03,
    "one job's series": 0.03,
    "first answer after start": 1.0,
}
_INCREMENTS = """
    WITH counters AS (
        SELECT *, lag(value, 1, 0) OVER entry AS before, lag(time) OVER entry AS since
        FROM raw {where} WINDOW entry AS (PARTITION BY target, entry_id ORDER BY time)),
    rates AS (
        SELECT *, CASE WHEN value >= before THEN value - before ELSE value END
            / greatest(epoch(time - since), 1) AS rate
        FROM counters WHERE since IS NOT NULL)
"""
RAW = {
    "density by user over the day": _INCREMENTS.format(where="")
    + """, users AS (SELECT time, "user", sum(rate) AS rate FROM rates GROUP BY ALL)
        SELECT time, floor(log10(rate)) AS bucket, count(*) FROM users WHERE rate > 0
        GROUP BY ALL ORDER BY ALL""",
    "totals per target over the day": _INCREMENTS.format(where="")
    + "SELECT time, target, sum(rate) FROM rates GROUP BY ALL ORDER BY ALL",
    "top users of the last hour": _INCREMENTS.format(
        where="WHERE time >= (SELECT max(time) FROM raw) - INTERVAL 62 MINUTES"
    )
    + """SELECT "user", avg(rate), max(rate), sum(rate) AS total FROM rates GROUP BY ALL
        ORDER BY total DESC LIMIT 20""",
    "one job's series": _INCREMENTS.format(where="WHERE job = '{job}'")
    + "SELECT time, target, sum(rate) FROM rates GROUP BY ALL ORDER BY ALL",
}


def make_day(directory):
    """Simulate a day, and take it into a store, with the commands that anybody would use."""
    site, store = directory / "site", directory / "data"
    if not store.exists():
        run = [sys.executable, "-m", "pfscope.cli.main"]
        subprocess.run(
            [*run, "lab", "dump", site, "--preset", "puhti", "--hours", "24", "--frames"],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        subprocess.run(
            [*run, "import", "frames", *sorted(site.glob("*/*.pfl")), "--data", store],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
    return site, store


def load_raw(site, database, data_directory):
    """Put every observed counter of `read` on OSTs into a table."""
    database.execute("CREATE TABLE seen (time TIMESTAMP, target TEXT, entry_id TEXT, value BIGINT)")
    entries = 0
    for path in sorted(site.glob("*/*.pfl")):
        for frame in iter_frames(str(path), print):
            stats = read_frame(frame).stats
            entries += stats.entries
            database.register("rows", _rows(stats, frame.origin.wall_ns))
            database.execute("INSERT INTO seen FROM rows")
    with open_store(data_directory, read_only=True) as store:
        names = 'target, entry_id, any_value("user") AS "user", any_value(job) AS job'
        database.register("who", store.query(f"SELECT {names} FROM series GROUP BY ALL"))
        database.execute(
            "CREATE TABLE raw AS SELECT * FROM seen JOIN who USING (target, entry_id) ORDER BY time"
        )
    database.register("seen_entries", pa.table({"entries": [entries]}))
    database.execute("CREATE TABLE observed AS FROM seen_entries")


def _rows(stats, wall_ns):
    """Return the counters of reads of one frame."""
    reads = np.flatnonzero([name == "read_bytes" for name in stats.operations])
    found = np.flatnonzero(np.isin(stats.operation, reads))
    entry = stats.entry[found]
    target, ids = stats.target[entry], stats.entry_id[entry]
    spelled = pa.array([ascii_text(stats.ids[i]) for i in ids.tolist()], pa.string())
    names = pa.array([stats.targets[t] for t in target.tolist()], pa.string())
    keep = pc.match_substring(names, "-OST")
    times = pa.array(np.full(len(found), wall_ns // 1000), pa.timestamp("us"))
    values = pa.array(stats.samples[found].astype(np.int64))
    columns = {"time": times, "target": names, "entry_id": spelled, "value": values}
    return pa.table(columns).filter(keep)


def median_s(work):
    """Return the median time of a few rounds; the first one, which warms up, does not count."""
    work()
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def questions(data, job):
    """Return what is asked of pfscope, by name."""
    reads = {"operation": "read", "kind": "ost"}
    return {
        "density by user over the day": lambda: data.density(by="user", **reads),
        "totals per target over the day": lambda: data.totals(by="target", **reads),
        "top users of the last hour": lambda: data.top(by="user", start="-1h", **reads),
        "one job's series": lambda: data.series(by="target", job=job, **reads),
    }


def first_answer_s(store):
    """Return how long a process takes from its start to its first answer."""
    command = [sys.executable, "-m", "pfscope.cli.main", "query", "top", "--data", store]
    begin = time.perf_counter()
    subprocess.run([*command, "--from=-1h"], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def compare(site, store):
    """Ask both, and print the times beside each other."""
    with duckdb.connect(site.parent / "raw.duckdb") as database, pfscope.open(store) as data:
        if not database.sql("SHOW TABLES").fetchall():
            load_raw(site, database, store)
        ((entries,),) = database.sql("SELECT entries FROM observed").fetchall()
        ((count,),) = database.sql("SELECT count(*) FROM raw").fetchall()
        print(f"a day of {entries:,} observed entries; {count:,} raw counters of read on OSTs")
        job = data.top(by="job", operation="read", job="*", limit=1).to_pylist()[0]["job"]
        for name, ask in questions(data, job).items():
            ours = median_s(ask)
            sql = RAW[name].replace("{job}", job)
            raw = median_s(partial(_fetched, database, sql))
            tell(name, ours, f"raw counters {raw:7.3f} s: {raw / ours:6.1f} ×")
        every = median_s(lambda: data.density(by="user"))
        print(f"  {'the same density of all operations':34} {every:7.3f} s")
    tell("first answer after start", statistics.median(first_answer_s(store) for _ in range(3)), "")


def _fetched(database, sql):
    return database.sql(sql).to_arrow_table()


def tell(name, seconds, beside):
    """Print one line."""
    verdict = "met" if seconds < AIMS_S[name] else "MISSED"
    print(f"  {name:34} {seconds:7.3f} s (aim: {AIMS_S[name]} s -> {verdict})  {beside}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--day", type=Path, metavar="DIR", help="keep the day here")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        compare(*make_day(args.day or Path(scratch)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
