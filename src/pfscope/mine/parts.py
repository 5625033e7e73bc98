"""The Parquet files of a batch, as they are written: one for each table and day, or several."""

from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from pfscope.mine.schema import DATE, TABLES

ROWS: Final = 1 << 17
"""Rows that are made, and stand in a row group, together."""


class Parts:
    """Writes the files of one batch below its directory, and counts rows by what gave them."""

    def __init__(self, root: Path, batch: str) -> None:
        self._root = root
        self._batch = batch
        self._open: dict[tuple[str, str | None], pq.ParquetWriter] = {}
        self._numbers: Counter[tuple[str, str | None]] = Counter()
        self._pending: Counter[str] = Counter()
        self.rows: Counter[str] = Counter()
        """Rows by the digest in their column `log`, of the files that are ended."""

    def write(self, table: str, date: str | None, rows: pa.Table) -> None:
        """Append rows of a day; they follow those that were written before in order of the key."""
        if not rows.num_rows:
            return
        if (table, date) not in self._open:
            self._open[table, date] = self._writer(table, date)
        self._open[table, date].write_table(rows, row_group_size=ROWS)
        self._pending.update(_counts(rows))

    def write_alone(self, table: str, date: str | None, rows: pa.Table) -> Path:
        """Write a file of its own, of rows that are in order of the key by themselves."""
        with self._writer(table, date) as writer:
            writer.write_table(rows, row_group_size=ROWS)
        self.rows.update(_counts(rows))
        return Path(writer.where)

    def close(self) -> None:
        """End the files that are open; what follows goes to new ones."""
        while self._open:
            self._open.popitem()[1].close()
        self.rows.update(self._pending)
        self._pending.clear()

    def abandon(self) -> None:
        """Throw away the files that are open, and their rows."""
        while self._open:
            writer = self._open.popitem()[1]
            with suppress(Exception):  # it goes anyway
                writer.close()
            Path(writer.where).unlink(missing_ok=True)
        self._pending.clear()

    def _writer(self, table: str, date: str | None) -> pq.ParquetWriter:
        folder = self._root / table / (f"{DATE}={date}" if date else "")
        folder.mkdir(parents=True, exist_ok=True)
        number = self._numbers[table, date]
        self._numbers[table, date] += 1
        path = folder / f"part-{self._batch}-{number}.parquet"
        return pq.ParquetWriter(path, TABLES[table].schema, compression="zstd")


def _counts(rows: pa.Table) -> dict[str, int]:
    pairs = rows["log"].value_counts().to_pylist()
    return {pair["values"]: pair["counts"] for pair in pairs}
