"""How fast rows are kept, how small they get, and how fast a day is asked: the embedded store.

Run with `make bench`; `python -m benchmarks.store_speed 24 [RELEASE]` is a whole day. Rows are
what a simulated Puhti leaves behind after differencing, committed observation by observation. The
limit is DuckDB's bare append of the same rows in the same transactions.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from benchmarks.store_rows import puhti_batches
from pfscope.store.embedded import open_store
from pfscope.store.housekeeping import Rules

HOURS = 2.0
AIM_BYTES = 12
QUERIES = {
    "sums by operation": "SELECT operation, sum(samples), sum(total) FROM usage_ost GROUP BY 1",
    "an hour, by minute": (
        "SELECT date_trunc('minute', time), sum(samples) FROM usage_mdt WHERE time >= "
        "TIMESTAMPTZ '2022-10-27 00:00Z' AND time < TIMESTAMPTZ '2022-10-27 01:00Z' GROUP BY 1"
    ),
    "top 10 users": (
        'SELECT "user", sum(samples) AS n FROM usage_mdt JOIN series USING (series) '
        "GROUP BY 1 ORDER BY n DESC LIMIT 10"
    ),
    "top 10 jobs by bytes": (
        "SELECT job, sum(total) AS n FROM usage_ost JOIN series USING (series) "
        "WHERE operation IN (SELECT operation FROM operations WHERE unit = 'bytes') "
        "GROUP BY 1 ORDER BY n DESC LIMIT 10"
    ),
}


def bare_append(path, made):
    """Append the same rows with nothing but DuckDB; return the seconds it took."""
    with duckdb.connect(path) as database:
        for name, rows in made[0].items():
            database.register("rows", rows)
            database.execute(f"CREATE TABLE {name} AS FROM rows LIMIT 0")
        begin = time.perf_counter()
        for tables in made:
            database.execute("BEGIN")
            for name, rows in tables.items():
                database.register("rows", rows)
                database.execute(f"INSERT INTO {name} FROM rows")
            database.execute("COMMIT")
        return time.perf_counter() - begin


def commit_all(store, made):
    """Commit every batch; return the seconds it took, and those of the slowest."""
    times = []
    for tables in made:
        begin = time.perf_counter()
        store.commit(tables, [])
        times.append(time.perf_counter() - begin)
    return sum(times), max(times)


def ask(store):
    """Return the best of three times of each query, in milliseconds."""
    times = {}
    for name, sql in QUERIES.items():
        best = []
        for _ in range(3):
            begin = time.perf_counter()
            store.query(sql)
            best.append(time.perf_counter() - begin)
        times[name] = 1000 * min(best)
    return times


def measure(made):
    """Return the figures of one run over the batches."""
    found = {}
    with tempfile.TemporaryDirectory() as name:
        found["bare_s"] = bare_append(Path(name) / "bare.duckdb", made)
        with open_store(Path(name) / "data", rules=Rules(settle_us=0, quiet_us=0)) as store:
            found["store_s"], found["slowest_s"] = commit_all(store, made)
            found["hot"] = ask(store)
            found["roll_s"] = timed(lambda: store.maintain(time.time_ns() // 1000))
            found["cold"] = ask(store)
            found["bytes"] = {p.table: 0 for p in store.parts()}
            for part in store.parts():
                found["bytes"][part.table] += part.bytes
        found["open_s"] = timed(open_store(Path(name) / "data").close)
    return found


def timed(action):
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def main():
    hours = float(sys.argv[1]) if len(sys.argv) > 1 else HOURS
    dialect = sys.argv[2] if len(sys.argv) > 2 else "2.12"
    made, observed = zip(*puhti_batches(hours, dialect), strict=True)
    entries, rows = sum(observed), sum(t.num_rows for tables in made for t in tables.values())
    print(
        f"store: {hours:g} h of a simulated Puhti with Lustre {dialect}, {entries:,} entries, "
        f"{rows:,} rows, {os.cpu_count()} cores"
    )
    found = measure(made)
    bare_s, store_s = found["bare_s"], found["store_s"]
    print(f"  DuckDB, bare append      {rows / bare_s:12,.0f} rows/s")
    print(f"  commits to the store     {rows / store_s:12,.0f} rows/s", end="   ")
    print(f"{store_s / bare_s:.2f} times as long as the bare append")
    print(f"  slowest commit           {1000 * found['slowest_s']:12,.0f} ms")
    print(f"  to Parquet               {rows / found['roll_s']:12,.0f} rows/s")
    print(f"  open and close           {1000 * found['open_s']:12,.0f} ms")
    for query, hot_ms in found["hot"].items():
        print(f"  {query:24} {hot_ms:12,.1f} ms in DuckDB, {found['cold'][query]:,.1f} in Parquet")
    for table, size in found["bytes"].items():
        print(f"  {table:24} {size / entries:12,.2f} bytes per observed entry")
    each = sum(found["bytes"].values()) / entries
    verdict = "met" if each <= AIM_BYTES else "MISSED"
    print(f"  all tables               {each:12,.2f} bytes, aim: {AIM_BYTES} -> {verdict}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
