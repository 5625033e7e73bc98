"""What became of every file that was given to an import: the table `imports`.

The latest record of a file's content counts; older ones go when records are put together.
"""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pfscope.mine.inputs import Candidate, Found, Period
from pfscope.mine.lake import Lake
from pfscope.mine.schema import table_schema

WHOLE: Final = "whole"
PARTIAL: Final = "partial"
QUARANTINED: Final = "quarantined"
OUTSIDE: Final = "outside"
PERIOD_REASON: Final = "record outside the period that was asked for"
"""Why rows of a file may be missing that could be read."""
_LONGEST_REASON: Final = 500


class Record(NamedTuple):
    """A row of the table."""

    log: str
    kind: str
    path: str
    size_bytes: int
    modified_us: int
    state: str
    reason: str | None
    rows: int
    job_id: str | None
    start: int | None
    end: int | None
    imported: int

    @classmethod
    def quarantined(cls, found: Found, reason: str, kind: str = "darshan") -> "Record":
        """Of a file that cannot be read."""
        told = reason.encode("ascii", "backslashreplace").decode()[:_LONGEST_REASON]
        return cls._of(found, kind, QUARANTINED, told, None, None, None)

    @classmethod
    def outside(cls, found: Found, job_id: str, start_us: int, end_us: int) -> "Record":
        """Of a log that is not of the period."""
        return cls._of(found, "darshan", OUTSIDE, None, job_id, start_us, end_us)

    @classmethod
    def read(
        cls, found: Found, missing: str | None, job_id: str | None, start_us: int | None,
        end_us: int | None, kind: str = "darshan",
    ) -> "Record":  # fmt: skip
        """Of a file that was read; `missing` tells what it does not have."""
        state = PARTIAL if missing else WHOLE
        return cls._of(found, kind, state, missing, job_id, start_us, end_us)

    @classmethod
    def _of(
        cls, found: Found, kind: str, state: str, reason: str | None, job_id: str | None,
        start_us: int | None, end_us: int | None,
    ) -> "Record":  # fmt: skip
        return cls(
            found.digest, kind, found.shown, found.size, found.modified_us, state, reason, 0,
            job_id, start_us, end_us, time.time_ns() // 1000,
        )  # fmt: skip

    def with_rows(self, rows: int) -> "Record":
        """Say how many rows it gave."""
        return self._replace(rows=rows)


def as_rows(records: Iterable[Record]) -> pa.Table:
    """Return records as rows of the table, in order of its key."""
    ordered = sorted(records)
    columns: list[Sequence[Any]] = list(zip(*ordered, strict=True))
    columns = columns or [()] * len(Record._fields)
    schema = table_schema("imports")
    arrays = [
        pa.array(column, pa.int64() if pa.types.is_timestamp(field.type) else field.type)
        for column, field in zip(columns, schema, strict=True)
    ]
    return pa.table([a.cast(f.type) for a, f in zip(arrays, schema, strict=True)], schema=schema)


class Imports:
    """What was imported into a lake until now."""

    def __init__(self, lake: Lake) -> None:
        self.files = lake.files("imports")
        self.rows = latest(read_rows(self.files))
        logs, states = self.rows["log"].to_pylist(), self.rows["state"].to_pylist()
        starts = self.rows["start"].cast(pa.int64()).to_pylist()
        told = zip(states, starts, self.rows["reason"].to_pylist(), strict=True)
        self._known = dict(zip(logs, told, strict=True))
        seen = (self.rows[name].to_pylist() for name in ("path", "size_bytes", "modified_us"))
        self._seen = dict(zip(zip(*seen, strict=True), logs, strict=True))

    def seen(self, file: Candidate) -> str | None:
        """Return the digest of a file that has not changed since it was imported."""
        return self._seen.get((file.shown, file.size, file.modified_us))

    def has(self, log: str, period: Period, *, again: bool = False) -> bool:
        """Return whether there is nothing to be done for a content, asked for a period.

        `again`: what is in quarantine is to be tried again.
        """
        if log not in self._known:
            return False
        state, start, reason = self._known[log]
        if state == QUARANTINED and again:
            return False
        if state == OUTSIDE:
            return not period.has(start)
        # Of a file of many days some may be missing because nobody asked for them.
        return PERIOD_REASON not in (reason or "")

    def end_of(self, log: str) -> int | None:
        """Return until when something told, so far."""
        at = pc.index(self.rows["log"], log).as_py()
        return None if at < 0 else self.rows["end"].cast(pa.int64())[at].as_py()

    def same(self, record: Record) -> bool:
        """Return whether a record tells what is known."""
        return self._known.get(record.log) == (record.state, record.start, record.reason)


def read_rows(files: list[Path]) -> pa.Table:
    """Return all records of these files."""
    schema = table_schema("imports")
    return pa.concat_tables([schema.empty_table(), *(pq.read_table(file) for file in files)])


def latest(rows: pa.Table) -> pa.Table:
    """Return the latest record of each content."""
    if not rows.num_rows:
        return rows
    ordered = rows.sort_by([("log", "ascending"), ("imported", "ascending")])
    logs = ordered["log"].combine_chunks()
    last = pc.not_equal(logs[1:], logs[:-1]).to_pylist() if len(logs) > 1 else []
    return ordered.filter(pa.array([*last, True]))
