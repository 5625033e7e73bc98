"""Plain Parquet or CSV by day, for every other tool: `OUT/TABLE/day=YYYY-MM-DD/part-0.parquet`.

Only types that Spark, pandas and Julia read alike: signed integers, doubles, booleans, strings, and
times in microseconds of UTC. A file has its name only when it is whole.
"""
# ruff: noqa: S608 - what is put together here are names of the schema and numbers

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from pfscope.errors import UsageError
from pfscope.store.layout import DAILY, DAY_US, ORDER, UNFINISHED, day_name, day_of
from pfscope.store.protocol import Store
from pfscope.store.schema import TABLES, TIMED
from pfscope.times import time_us

STYLES: Final = ("parquet", "csv")
WIDE = ("usage_mdt", "usage_ost", "histograms")
"""Tables whose rows can have who and what beside them."""
_WHO = ("filesystem", "target", "entry_id", "class", "job", "user", "group", "node", "executable")
_FORMULA = "'^''*[=+\\-@\\t\\r]'"


@dataclass(frozen=True, slots=True)
class Span:
    """The times whose rows are wanted: `first_us` and later, before `end_us`."""

    first_us: int
    end_us: int


@dataclass(frozen=True, slots=True)
class Export:
    """What to write, and how."""

    span: Span
    tables: tuple[str, ...] = TIMED
    style: str = "parquet"
    """Or csv."""
    wide: bool = False

    def files(self, store: Store) -> dict[str, str]:
        """Return the files to make and the SELECT of each, those of days without rows left out."""
        found = {
            self._path(f"{table}/day={day_name(day)}/part-0"): self._daily(table, day)
            for table in self.tables
            for day in self._days(store, table)
        }
        if not self.wide and any(table in WIDE for table in self.tables):
            found[self._path("series/part-0")] = self._series()
        if not self.wide:
            everything = self._select("operations", TABLES["operations"].names)
            found[self._path("operations/part-0")] = everything
        return found

    def _path(self, name: str) -> str:
        return f"{name}.{self.style}"

    def _days(self, store: Store, table: str) -> list[int]:
        found = store.query(
            f"SELECT DISTINCT epoch_us(time) // {DAY_US} AS day FROM {table} "
            f"WHERE {self._during(self.span)}"
        )
        return sorted(found.column("day").to_pylist())

    def _daily(self, table: str, day: int) -> str:
        span = Span(
            max(self.span.first_us, day * DAY_US), min(self.span.end_us, (day + 1) * DAY_US)
        )
        order = ", ".join(f'"{column}"' for column in ORDER[table])
        wide = self.wide and table in WIDE
        source = self._select(table, TABLES[table].names, wide=wide)
        return f"{source} WHERE {self._during(span)} ORDER BY {order}"

    def _series(self) -> str:
        used = " UNION ".join(
            f"SELECT series FROM {table} WHERE {self._during(self.span)}"
            for table in self.tables
            if table in WIDE
        )
        source = self._select("series", TABLES["series"].names)
        return f"{source} WHERE series IN ({used}) ORDER BY series"

    def _select(self, table: str, columns: list[str], *, wide: bool = False) -> str:
        """Return the SELECT of a table's columns, numbers replaced by words when it is wide."""
        if not wide:
            cells = [self._cell(f'"{name}"', name, TABLES[table].field(name).type)
                     for name in columns]  # fmt: skip
            return f"SELECT {', '.join(cells)} FROM {table}"
        own = [f't."{name}"' for name in columns if name not in ("series", "operation")]
        who = [self._cell(f's."{name}"', name, pa.string()) for name in _WHO]
        what = ['o.name AS "operation"', 'o.unit AS "unit"']
        return (
            f"SELECT {', '.join([*own[:1], *who, *what, *own[1:]])} FROM {table} t "
            "LEFT JOIN series s USING (series) LEFT JOIN operations o USING (operation)"
        )

    def _cell(self, source: str, name: str, kind: Any) -> str:
        """Return a column; text in CSV such that no spreadsheet takes it for a formula."""
        if self.style != "csv" or kind != pa.string():
            return source
        guarded = f"CASE WHEN regexp_matches({source}, {_FORMULA}) THEN '''' || {source}"
        return f'{guarded} ELSE {source} END AS "{name}"'

    def _during(self, span: Span) -> str:
        return (
            f"time >= make_timestamptz({span.first_us}) AND time < make_timestamptz({span.end_us})"
        )


def asked(
    store: Store, begin: str | None, end: str | None, tables: Sequence[str], style: str, wide: bool
) -> Export:
    """Return the export that somebody asks for in words; a day as an end is meant whole."""
    unknown = sorted(set(tables) - set(TIMED))
    if unknown:
        raise UsageError(f"no table {unknown[0]!r}; there are {', '.join(TIMED)}")
    if style not in STYLES:
        raise UsageError(f"the format can be {' or '.join(STYLES)}, not {style!r}")
    whole = _whole(store)
    first_us = time_us(begin, now_us=whole.end_us) if begin else whole.first_us
    end_us = time_us(end, now_us=whole.end_us, end=True) if end else whole.end_us
    if begin and end and end_us <= first_us:
        raise UsageError(f"--to {end} is not after --from {begin}")
    return Export(Span(first_us, end_us), tuple(tables) or TIMED, style, wide)


class StoreFiles:
    """The files of an export and their rows, from a store at hand."""

    def __init__(self, store: Store, export: Export) -> None:
        self._store = store
        self._selects = export.files(store)

    @property
    def paths(self) -> list[str]:
        """Where each file is to lie."""
        return list(self._selects)

    def rows(self, path: str) -> AbstractContextManager[pa.RecordBatchReader]:
        """Return what is to stand in a file."""
        return self._store.stream(self._selects[path])


def write(rows: pa.RecordBatchReader, path: Path, style: str) -> int:
    """Make one file and return its number of rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name("." + path.name + UNFINISHED)
    writer = (
        pq.ParquetWriter(unfinished, rows.schema, compression="zstd")
        if style == "parquet"
        else pc.CSVWriter(unfinished, rows.schema)
    )
    count = 0
    with writer:
        for batch in rows:
            writer.write_batch(batch)
            count += batch.num_rows
    unfinished.rename(path)
    return count


def _whole(store: Store) -> Span:
    """Return the days from the first to the last row of any table."""
    times = " UNION ALL ".join(f"SELECT min(time) AS a, max(time) AS z FROM {t}" for t in TIMED)
    found = store.query(f"SELECT epoch_us(min(a)) AS a, epoch_us(max(z)) AS z FROM ({times})")
    first, last = found.column("a")[0].as_py(), found.column("z")[0].as_py()
    if first is None:
        return Span(0, 0)
    return Span(day_of(first) * DAY_US, (day_of(last) + 1) * DAY_US)


assert set(WIDE) <= set(DAILY)
