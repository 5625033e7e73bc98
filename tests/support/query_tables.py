"""A few rows of the store's tables in a DuckDB of their own, to put questions to."""

import duckdb

from pfscope.query.asked import Site
from pfscope.query.data import Data
from pfscope.query.engine import StoreEngine
from pfscope.query.local import LocalSource
from pfscope.query.metrics import SHIPPED
from pfscope.store.schema import TABLES
from tests.support.store_rows import table


class MemoryStore:
    """Tables that live as long as the test."""

    def __init__(self, rows):
        self._database = duckdb.connect()
        self._database.execute("SET TimeZone = 'UTC'")
        for name in TABLES:
            given = rows.get(name, [])
            self._database.register(f"{name}_rows", table(name, given))
            self._database.execute(f"CREATE TABLE {name} AS FROM {name}_rows")

    def query(self, sql, parameters=()):
        return self._database.sql(sql, params=list(parameters)).to_arrow_table()

    def close(self):
        self._database.close()


def data_of(metrics=SHIPPED, login_nodes=(), **rows):
    """Return `Data` over rows (dictionaries) of some tables."""
    store = MemoryStore(rows)
    return Data(LocalSource(StoreEngine(store), Site(metrics, login_nodes), store.close))


def frames_at(*times_us, server="oss1"):
    return [
        {"server": server, "epoch": "e", "sequence": n, "time": t, "state": "stored"}
        for n, t in enumerate(times_us)
    ]


def used(series, begin_us, time_us, samples, total=0, operation=0, **more):
    """Return a row of usage."""
    return {
        "series": series, "begin": begin_us, "time": time_us, "operation": operation,
        "samples": samples, "total": total, "sumsq": 0.0, "restarted": False, "baseline": False,
        **more,
    }  # fmt: skip


def one_series(number, target="scratch-MDT0000", **more):
    """Return a row of `series`."""
    kind = "mdt" if "-MDT" in target else "ost"
    return {
        "series": number, "filesystem": "scratch", "target": target, "kind": kind,
        "entry_id": str(number), "class": "sound", "system": False, "first_seen": 0, **more,
    }  # fmt: skip


def named(*operations):
    """Return rows of `operations` from names, or (name, unit)."""
    pairs = [(o, "reqs") if isinstance(o, str) else o for o in operations]
    return [{"operation": n, "name": name, "unit": u} for n, (name, u) in enumerate(pairs)]
