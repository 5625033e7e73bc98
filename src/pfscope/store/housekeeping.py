"""What a store does beside taking rows: finished days go to Parquet, small parts become one, old
days go for good.

Each change is one transaction that ends with the record of the new part or without that of the
old one. A crash before it leaves a file that nobody names, a crash after it a file that is not
needed any more: both are removed when the store is opened next. Commits go on meanwhile: what they
add after the transaction began is neither moved nor deleted by it.
"""
# ruff: noqa: S608 - what is put together here are names of the schema, numbers and quoted paths

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path

from pfscope.store import parts
from pfscope.store.database import Database
from pfscope.store.layout import DAILY, DAY_US, day_of, day_start, within
from pfscope.store.parts import Part
from pfscope.store.readers import Readers
from pfscope.store.retention import Removed, Retention

_HOUR_US = 3_600_000_000


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
    retention: Retention = field(default_factory=Retention)


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
        self._retired: set[Part] = set()
        """Parts without a record whose files are still read."""
        self._series_looked_at = 0
        """The day on which it was; once a day is enough."""

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
        today, retention = day_of(now_us), self._rules.retention
        removed: list[Removed] = []
        for table, days in retention.limits().items():
            removed += self._delete_before(table, today - days)
        if retention.usage_days and self._series_looked_at < today:
            self._carry_series(today - retention.usage_days)
            self._series_looked_at = today
        return removed

    def sweep(self) -> None:
        """Delete what failed attempts left behind."""
        with self._database.cursor() as cursor:
            parts.remove_rubbish(
                self._directory, [*parts.recorded(cursor), *frozenset(self._retired)]
            )

    def _hot_days(self, table: str) -> list[int]:
        with self._database.cursor() as cursor:
            rows = cursor.execute(
                f'SELECT DISTINCT epoch_us("{DAILY[table]}") // {DAY_US} AS day '
                f"FROM hot.{table} ORDER BY day"
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
        with self._database.transaction() as cursor:
            part = parts.write_part(
                cursor, self._directory, table, day, rows or f"SELECT * FROM {hot}", now_us
            )
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
        with self._database.transaction() as cursor:
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

    def _carry_series(self, first_kept: int) -> None:
        """Give up series that began before a day, but for those that usage still speaks of."""
        old_hot = f"hot.series WHERE first_seen < {day_start(first_kept)}"
        with self._database.transaction() as cursor:
            old = [p for p in parts.recorded(cursor) if p.table == "series" and p.day < first_kept]
            if not old:
                return
            cold = " UNION ALL ".join(
                parts.select_parts(self._directory, group) for group in parts.by_version(old)
            )
            cursor.execute(
                f"CREATE TEMP TABLE carried AS WITH old AS (SELECT * FROM {old_hot} "
                f"UNION ALL {cold}), used AS (SELECT series FROM usage_mdt "
                "WHERE series <= (SELECT max(series) FROM old) UNION SELECT series FROM usage_ost "
                "WHERE series <= (SELECT max(series) FROM old)) "
                "SELECT * FROM old WHERE system OR series IN (SELECT series FROM used)"
            )
            cursor.execute("UPDATE store SET next_series = ?", [parts.next_series(cursor)])
            cursor.execute(f"DELETE FROM {old_hot}")
            parts.forget(cursor, old)
            cursor.execute("INSERT INTO hot.series SELECT * FROM carried")
            cursor.execute("DROP TABLE carried")
            parts.create_views(cursor, self._directory, ["series"])
            self._step("expired")
        self._step("committed")
        self._discard(old)

    def _discard(self, old: list[Part]) -> None:
        """Delete files whose records are gone, when nobody reads them any more."""
        for part in old:
            self._retired.add(part)
            self._readers.afterwards(partial(self._remove, part))

    def _remove(self, part: Part) -> None:
        (self._directory / part.path).unlink(missing_ok=True)
        self._retired.discard(part)
