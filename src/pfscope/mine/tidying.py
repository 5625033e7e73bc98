"""Small files of a lake put together, so that a day that was imported in many parts is read fast.

It is done at the end of an import. What is read meanwhile may miss a file that was just replaced.
"""

import time
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from pfscope.mine.lake import Lake
from pfscope.mine.parts import ROWS, Parts
from pfscope.mine.records import latest
from pfscope.mine.schema import TABLES, Table

MOST_FILES: Final = 8
"""So many small files of a table and day are left as they are."""
_TOGETHER: Final = 2 * ROWS
"""Rows that are put together at most."""


def tidy(lake: Lake) -> int:
    """Put small files together where there are many; return how many are gone."""
    return sum(
        _tidied(lake, table, date) for table in TABLES.values() for date in _dates(lake, table)
    )


def _dates(lake: Lake, table: Table) -> list[str | None]:
    return [None] if table.when is None else [*lake.dates(table.name)]


def _tidied(lake: Lake, table: Table, date: str | None) -> int:
    files = lake.files(table.name, None if date is None else [date])
    if len(files) <= MOST_FILES:
        return 0
    gone = 0
    for group in _groups(files):
        if len(group) < MOST_FILES // 2:
            continue
        gone += len(group)
        _put_together(lake, table, date, group)
    return gone


def _groups(files: list[Path]) -> Iterator[list[Path]]:
    """Yield small files that are not too many rows together."""
    group: list[Path] = []
    total = 0
    for file in files:
        rows = pq.read_metadata(file).num_rows
        if rows >= ROWS:
            continue
        if total + rows > _TOGETHER:
            yield group
            group, total = [], 0
        group.append(file)
        total += rows
    yield group


def _put_together(lake: Lake, table: Table, date: str | None, files: list[Path]) -> None:
    rows = pa.concat_tables([pq.ParquetFile(file).read() for file in files])
    if table.name == "imports":
        rows = latest(rows)
    rows = rows.sort_by([(name, "ascending") for name in table.key])
    seed = f"{table.name} {date} {time.time_ns()}"
    batch = blake2b(seed.encode(), digest_size=8).hexdigest()
    parts = Parts(lake.staging(batch), batch)
    parts.write(table.name, date, rows)
    parts.close()
    lake.commit(batch, files)
