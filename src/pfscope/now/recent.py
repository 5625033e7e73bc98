"""The last minutes of what was committed: of a server that runs, or of a store at some moment.

What is kept are the very tables that were committed, by reference: the ingest pays nothing for it.
"""

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from pfscope.store.schema import TABLES

KEPT_US: Final = 10 * 60 * 10**6
"""A server that was not observed for so long is not under way any more."""
NAMES: Final = (
    "usage_mdt", "usage_ost", "target_totals", "server_load", "quality", "frames",
)  # fmt: skip
Tables = Mapping[str, pa.Table]


class Queryable(Protocol):
    """What is asked of a store: one SELECT, all rows."""

    def query(self, sql: str, parameters: Sequence[object] = ()) -> pa.Table:
        """Return the rows."""


class Recent:
    """Keeps what was committed lately. One thread adds, any may look."""

    def __init__(self, tables: Tables | None = None) -> None:
        self._guard = threading.Lock()
        self._batches: deque[tuple[int, Tables]] = deque()
        self._newest_us = 0
        self.version = 0
        """Grows with every observation."""
        self._told: list[Callable[[], None]] = []
        if tables:
            self.take(tables)

    def take(self, batch: Tables) -> None:
        """Keep what of a batch says what happened, and let go of what is past."""
        kept = {name: batch[name] for name in NAMES if name in batch and batch[name].num_rows}
        if "frames" not in kept:
            return
        newest_us = pc.max(kept["frames"].column("time")).cast(pa.int64()).as_py()
        with self._guard:
            self._batches.append((newest_us, kept))
            self._newest_us = max(self._newest_us, newest_us)
            while self._batches and self._batches[0][0] < self._newest_us - KEPT_US:
                self._batches.popleft()
            self.version += 1
        for tell in self._told:
            tell()

    def tell(self, listener: Callable[[], None]) -> None:
        """Call somebody after every observation, in the thread that added it."""
        self._told.append(listener)

    def look(self) -> tuple[int, Tables]:
        """Return the version and everything that is kept, a table of each name."""
        with self._guard:
            batches, version = [tables for _, tables in self._batches], self.version
        return version, {
            name: pa.concat_tables(
                [TABLES[name].empty_table(), *(b[name] for b in batches if name in b)]
            ).combine_chunks()
            for name in NAMES
        }


def recorded(store: Queryable, until_us: int | None = None) -> Tables:
    """Return the last minutes of a store, before a moment or before its newest observation."""
    if until_us is None:
        newest = store.query("SELECT epoch_us(max(time)) AS time FROM frames").to_pylist()[0]
        if newest["time"] is None:
            return {name: TABLES[name].empty_table() for name in NAMES}
        until_us = int(newest["time"])
    during = "time > make_timestamptz(?) AND time <= make_timestamptz(?)"
    times = [until_us - KEPT_US, until_us]
    return {
        name: store.query(
            f"SELECT {_columns(name)} FROM {name} WHERE {during}",  # noqa: S608 - names of ours
            times,
        ).cast(TABLES[name])
        for name in NAMES
    }


def _columns(name: str) -> str:
    return ", ".join(f'"{column}"' for column in TABLES[name].names)
