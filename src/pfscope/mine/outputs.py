"""What becomes of rows: Arrow, pandas, Polars, or a file of CSV or Parquet, batch by batch."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from pfscope.errors import InputError
from pfscope.rows import write_csv

if TYPE_CHECKING:
    import pandas as pd


class Rows(ABC):
    """Rows that can be had in many forms; whoever offers them says how they come."""

    @abstractmethod
    def arrow_schema(self) -> pa.Schema:
        """Return names and types of the columns."""

    @abstractmethod
    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Return the rows piece by piece, as Arrow has them."""

    def to_arrow(self) -> pa.Table:
        """Return the rows as a table of Arrow."""
        return pa.Table.from_batches(list(self.to_batches()), self.arrow_schema())

    def to_pandas(self) -> "pd.DataFrame":
        """Return the rows as a data frame of pandas."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """Return the rows as a data frame of Polars, which must be installed."""
        try:
            import polars
        except ImportError:
            raise InputError("Polars is not installed: pip install polars") from None
        return polars.from_arrow(self.to_arrow())

    def to_csv(self, path: str | Path) -> None:
        """Write the rows as CSV, which no spreadsheet takes for formulas."""
        batches = (
            [text_or_number(column) for column in batch.columns] for batch in self.to_batches()
        )
        try:
            with Path(path).open("w", encoding="utf-8", newline="") as out:
                write_csv(self.arrow_schema().names, batches, out)
        except OSError as error:
            raise _unwritable(path, error) from error

    def to_parquet(self, path: str | Path) -> None:
        """Write the rows as a file of Parquet."""
        try:
            with pq.ParquetWriter(path, self.arrow_schema(), compression="zstd") as out:
                for batch in self.to_batches():
                    out.write_batch(batch)
        except OSError as error:
            raise _unwritable(path, error) from error


class Table(Rows):
    """Rows that are there already."""

    def __init__(self, rows: pa.Table) -> None:
        self._rows = rows

    def arrow_schema(self) -> pa.Schema:
        """Return names and types of the columns."""
        return self._rows.schema

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Return the rows."""
        yield from self._rows.to_batches()

    def __len__(self) -> int:
        return int(self._rows.num_rows)

    def __repr__(self) -> str:
        return f"{self._rows.num_rows} rows of {', '.join(self._rows.column_names)}"


def text_or_number(column: pa.Array) -> list[Any]:
    """Return values as CSV and JSON have them: times as ISO 8601, sets as hexadecimal digits."""
    values: list[Any] = column.to_pylist()
    if pa.types.is_binary(column.type):
        return [None if value is None else value.hex() for value in values]
    if pa.types.is_temporal(column.type):
        return [None if v is None else v.isoformat().replace("+00:00", "Z") for v in values]
    return values


def _unwritable(path: str | Path, error: OSError) -> InputError:
    return InputError(f"cannot write to {path}: {error.strerror or error}")
