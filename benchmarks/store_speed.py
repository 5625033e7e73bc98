"""How fast rows are kept, how small they get, and how fast a day is asked: the embedded store.

Run with `make bench`; `python -m benchmarks.store_speed HOURS` takes longer and is truer. The rows are
what a simulated Puhti leaves behind after differencing, committed observation by observation. The
limit is DuckDB's bare append of the same rows in the same transactions.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from pfscope.ingest.difference import Snapshot, difference
from pfscope.ingest.memory import Memory
from pfscope.lab.cluster import Cluster, Options
from pfscope.lab.text import param_text, server_files
from pfscope.lustre.job_stats import parse_job_stats
from pfscope.store.embedded import open_store
from pfscope.store.housekeeping import Rules
from pfscope.store.schema import OPERATIONS, SERIES, TIME, USAGE

HOURS = 2.0
AIM_BYTES = 12
QUERIES = {
    "total of a target kind": "SELECT operation, sum(samples), sum(total) FROM usage_ost GROUP BY 1",
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


def batches(hours, dialect="2.12"):
    """Yield (tables of one observation, observed entries), as ingest makes them."""
    memory, names = Memory(), []
    last_us, known = {}, 0
    for snapshots in Cluster(Options(preset="puhti", dialects=(dialect,))).run(hours=hours):
        usages, entries = {"mdt": [], "ost": []}, 0
        first = len(names)
        for shot in snapshots:
            files = [f for f in server_files(shot.dialect, shot) if f.name.endswith("job_stats")]
            stats = parse_job_stats(
                b"".join(param_text(shot.dialect, f.name, f.value) for f in files)
            )
            time_us = shot.time_ns // 1000 + hash(shot.server) % 50_000
            known_since = last_us.get(shot.server)

            def number(fresh, kind=shot.kind):
                names.extend((kind, *name) for name in fresh)
                return list(range(len(names) - len(fresh), len(names)))

            usages[shot.kind].append(
                difference(Snapshot(time_us, stats, known_since), memory, number)
            )
            last_us[shot.server] = time_us
            entries += stats.entries
        tables = {f"usage_{kind}": _usage(made) for kind, made in usages.items()}
        tables["series"] = _series(names[first:], first, time_us)
        tables["operations"] = _operations(memory.operations, known)
        known = len(memory.operations)
        yield tables, entries


def _usage(made):
    def joined(name):
        return np.concatenate([getattr(u, name) for u in made])

    columns = [pa.array(joined("end_us")).cast(TIME), pa.array(joined("begin_us")).cast(TIME)]
    for field in list(USAGE)[2:]:
        values = joined(field.name)
        unknown = values < 0 if field.name in ("minimum", "maximum") else None
        columns.append(pa.array(values, mask=unknown).cast(field.type))
    return pa.table(columns, schema=USAGE)


def _series(names, first, time_us):
    rows = [
        {
            "series": first + i, "filesystem": "scratch", "target": target, "kind": kind,
            "entry_id": raw.decode("latin-1"), "class": "sound", "system": False,
            "job": parts[0], "user": parts[1], "node": parts[2], "first_seen": time_us,
        }
        for i, (kind, target, raw) in enumerate(names)
        for parts in [(raw.decode("latin-1").split(":") + [None] * 3)[:3]]
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=SERIES)


def _operations(operations, known):
    rows = [
        {"operation": i, "name": name, "unit": unit}
        for i, (name, unit) in enumerate(operations)
        if i >= known
    ]
    return pa.Table.from_pylist(rows, schema=OPERATIONS)


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


def main():
    hours = float(sys.argv[1]) if len(sys.argv) > 1 else HOURS
    made, entries = [], 0
    for tables, observed in batches(hours):
        made.append(tables)
        entries += observed
    rows = sum(t.num_rows for tables in made for t in tables.values())
    print(
        f"store: {hours:g} h of a simulated Puhti, {entries:,} entries, {rows:,} rows, {os.cpu_count()} cores"
    )
    with tempfile.TemporaryDirectory() as name:
        bare_s = bare_append(Path(name) / "bare.duckdb", made)
        with open_store(Path(name) / "data", rules=Rules(settle_us=0, quiet_us=0)) as store:
            store_s, slowest_s = commit_all(store, made)
            hot = ask(store)
            begin = time.perf_counter()
            store.maintain(time.time_ns() // 1000)
            roll_s = time.perf_counter() - begin
            cold = ask(store)
            size = sum(part.bytes for part in store.parts())
        begin = time.perf_counter()
        open_store(Path(name) / "data").close()
        open_s = time.perf_counter() - begin
    print(f"  DuckDB, bare append      {rows / bare_s:12,.0f} rows/s")
    print(
        f"  commits to the store     {rows / store_s:12,.0f} rows/s   {store_s / bare_s:.2f} times the bare append"
    )
    print(f"  slowest commit           {1000 * slowest_s:12,.0f} ms")
    print(f"  a day to Parquet         {rows / roll_s:12,.0f} rows/s")
    print(f"  open and close again     {1000 * open_s:12,.0f} ms")
    for query, hot_ms in hot.items():
        print(f"  {query:24} {hot_ms:8.1f} ms in DuckDB, {cold[query]:8.1f} ms in Parquet")
    each = size / entries
    print(f"  {size / rows:.1f} bytes per row, {each:.1f} per observed entry; "
          f"aim: {AIM_BYTES} -> {'met' if each <= AIM_BYTES else 'MISSED'}")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
