"""What a store does beside taking rows: finished days go to Parquet, small parts become one, old
days go for good.

Each change is one transaction that ends with the record of the new part or without that of the
old one. A crash before it leaves a file that nobody names, a crash after it a file that is not
needed any more: both are removed when the store is opened next. Commits go on meanwhile: what they
add after the transaction began is neither moved nor deleted by it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from duckdb import DuckDBPyConnection

from pfscope.store import parts
from pfscope.store.database import Database
from pfscope.store.layout import DAILY, DAY_US, day_of, day_start, within
from pfscope.store.parts import Part
from pfscope.store.readers import Readers

_HOUR_US = 3_600_000_000
_EVERYTHING = ("series", "usage_mdt", "usage_ost")
"""Tables whose rows no retention deletes one by one: series live as long as their usage."""


@dataclass(frozen=True)
class Rules:
    """When what is due."""

    settle_us: int = 6 * _HOUR_US
    """A day is finished so long after its end, unless rows still come for it."""
    quiet_us: int = _HOUR_US
    """No rows for a day since so long: nothing more is coming for now."""
    merge_after_us: int = DAY_US
    """The parts of a day become one when none was added since so long …"""
    merge_above: int = 8
    """… or when there are more of them than this."""
    retention_days: Mapping[str, int] = field(default_factory=dict)
    """By table; what is not here is kept for ever. A series is kept as long as its usage."""

    def __post_init__(self) -> None:
        for table, days in self.retention_days.items():
            if table not in DAILY or days < 1:
                raise ValueError(f"no retention of {days} days for {table!r}")


class Removed(NamedTuple):
    """What retention deleted of one day."""

    table: str
    day: int
    rows: int


class Housekeeping:
    """The work on one store; one thread at a time."""

    def __init__(
        self,
        directory: Path,
        database: Database,
        readers: Readers,
        rules: Rules,
        step: Callable[[str], None],
    ) -> None:
        self._directory = directory
        self._database = database
        self._readers = readers
        self._rules = rules
        self._step = step
        self._touched: dict[tuple[str, int], int] = {}
        """When a day was last found to have got rows."""

    def touch(self, days: Iterable[tuple[str, int]], now_us: int) -> None:
        """Take note of the (table, day) that got rows."""
        self._touched.update(dict.fromkeys(days, now_us))

    def roll(self, now_us: int) -> list[Part]:
        """Write the finished days of DuckDB to Parquet, and take them out of DuckDB."""
        return [
            self._exchange(table, day, [], now_us)
            for table in DAILY
            for day in self._hot_days(table)
            if self._finished(table, day, now_us)
        ]

    def merge(self, now_us: int) -> list[Part]:
        """Make one part of the several of a day."""
        with self._database.cursor() as cursor:
            found = parts.recorded(cursor)
        return [
            self._exchange(table, day, old, now_us)
            for (table, day), group in groupby(found, key=lambda part: (part.table, part.day))
            if self._worth_merging(old := list(group), now_us)
        ]

    def expire(self, now_us: int) -> list[Removed]:
        """Delete what is older than the retention of its table."""
        today = day_of(now_us)
        removed: list[Removed] = []
        for table, days in self._rules.retention_days.items():
            if table != "series":
                removed += self._delete_before(table, today - days)
        return removed

    def _hot_days(self, table: str) -> list[int]:
        with self._database.cursor() as cursor:
            rows = cursor.execute(
                f'SELECT DISTINCT epoch_us("{DAILY[table]}") // {DAY_US} FROM hot.{table} ORDER BY 1'
            ).fetchall()
        return [day for (day,) in rows]

    def _finished(self, table: str, day: int, now_us: int) -> bool:
        over = (day + 1) * DAY_US + self._rules.settle_us <= now_us
        touched = self._touched.get((table, day))
        return over and (touched is None or now_us - touched >= self._rules.quiet_us)

    def _worth_merging(self, old: list[Part], now_us: int) -> bool:
        newest = max(part.written_us for part in old)
        waited = now_us - newest >= self._rules.merge_after_us
        return len(old) > self._rules.merge_above or (len(old) > 1 and waited)

    def _exchange(self, table: str, day: int, old: list[Part], now_us: int) -> Part:
        """Make one part of a day's rows in DuckDB, or of its older parts."""
        hot = f"hot.{table} WHERE {within(DAILY[table], day, day)}"
        rows = " UNION ALL ".join(
            parts.select_parts(self._directory, group) for group in parts.by_version(old)
        )
        with self._changing() as (cursor, written):
            part = parts.write_part(
                cursor, self._directory, table, day, rows or f"SELECT * FROM {hot}", now_us
            )
            written.append(part)
            self._step("written")
            if old:
                parts.forget(cursor, old)
            else:
                cursor.execute(f"DELETE FROM {hot}")
            parts.record(cursor, part)
            parts.create_views(cursor, self._directory, [table])
            self._step("recorded")
        self._step("committed")
        self._discard(old)
        return part

    def _delete_before(self, table: str, first_kept: int) -> list[Removed]:
        column = DAILY[table]
        limit = f'"{column}" < {day_start(first_kept)}'
        with self._changing() as (cursor, _):
            old = [p for p in parts.recorded(cursor) if p.table == table and p.day < first_kept]
            days = cursor.execute(
                f'SELECT epoch_us("{column}") // {DAY_US} AS day, count(*) FROM hot.{table} '
                f"WHERE {limit} GROUP BY day"
            ).fetchall()
            if not old and not days:
                return []
            cursor.execute(f"DELETE FROM hot.{table} WHERE {limit}")
            parts.forget(cursor, old)
            parts.create_views(cursor, self._directory, [table])
            self._step("expired")
        self._step("committed")
        self._discard(old)
        rows: dict[int, int] = dict(days)
        for part in old:
            rows[part.day] = rows.get(part.day, 0) + part.rows
        return [Removed(table, day, count) for day, count in sorted(rows.items())]

    @contextmanager
    def _changing(self) -> Iterator[tuple[DuckDBPyConnection, list[Part]]]:
        """A transaction; the parts that it wrote go when it fails."""
        written: list[Part] = []
        try:
            with self._database.transaction() as cursor:
                yield cursor, written
        except BaseException:
            for part in written:
                parts.remove_file(self._directory, part)
            raise

    def _discard(self, old: list[Part]) -> None:
        for part in old:
            self._readers.afterwards(lambda part=part: parts.remove_file(self._directory, part))
