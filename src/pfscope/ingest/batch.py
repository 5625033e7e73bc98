"""What a few frames add to the store, as Arrow tables of its schema."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pfscope.ingest.difference import Usage
from pfscope.ingest.ids import class_and_system
from pfscope.ingest.totals import TotalIncrements
from pfscope.lustre.job_stats import JobStats
from pfscope.store.protocol import LedgerChange
from pfscope.store.schema import HISTOGRAMS, TABLES, TIME, USAGE

Columns = Mapping[str, Iterable[Any]]
"""Values of a few rows, all equally many, by the name of their column."""
_QUALITIES: Final = 128
"""More than there are; see `ids.quality_of`."""


class Batch:
    """Rows that are gathered frame by frame, and become tables when they are stored together.

    A table costs about the same for one frame as for many.
    """

    def __init__(self) -> None:
        self._parts: dict[str, list[pa.Table]] = {}
        self._columns: dict[str, dict[str, list[Any]]] = {}
        self._usages: list[Usage] = []
        self.ledger: list[LedgerChange] = []
        self.frames: set[tuple[str, str, int]] = set()

    def __len__(self) -> int:
        return len(self.frames)

    def add(self, name: str, table: pa.Table) -> None:
        """Add rows to a table of the schema."""
        if table.num_rows:
            self._parts.setdefault(name, []).append(table)

    def add_columns(self, name: str, columns: Columns) -> None:
        """Add a few rows, given by column."""
        held = self._columns.setdefault(name, {column: [] for column in columns})
        for column, values in columns.items():
            held[column].extend(values)

    def add_row(self, name: str, row: Mapping[str, Any]) -> None:
        """Add one row."""
        self.add_columns(name, {column: (value,) for column, value in row.items()})

    def add_usage(self, usage: Usage, others: NDArray[np.int64]) -> None:
        """Add increments; rows of series that share a number are added up."""
        if not (len(others) and np.isin(usage.series, others).any()):
            self._usages.append(usage)
            return
        for name, table in _usage_tables([usage]).items():
            self.add(name, table if name == "histograms" else _summed(table))

    def count(self, server: str, outcome: str, reason: str, frames: int, entries: int) -> None:
        """Add to the ledger of the ingest."""
        if frames or entries:
            self.ledger.append(LedgerChange("ingest", server, outcome, reason, frames, entries))

    def tables(self) -> dict[str, pa.Table]:
        """Return all tables that have rows, each in one piece."""
        parts = {name: list(tables) for name, tables in self._parts.items()}
        for name, columns in self._columns.items():
            parts.setdefault(name, []).append(_table(name, columns))
        for name, table in _usage_tables(self._usages).items():
            parts.setdefault(name, []).append(table)
        tables = {name: pa.concat_tables(of_name) for name, of_name in parts.items()}
        return {name: table.combine_chunks() for name, table in tables.items() if table.num_rows}


def _table(name: str, columns: Columns) -> pa.Table:
    schema = TABLES[name]
    arrays = [pa.array(columns[field.name], field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _usage_tables(usages: Sequence[Usage]) -> dict[str, pa.Table]:
    """Return the rows of some snapshots by the name of their table."""
    if not usages:
        return {}
    return {
        "usage_mdt": _usage_table(usages, ost=False),
        "usage_ost": _usage_table(usages, ost=True),
        "histograms": _bins_table(usages),
    }


def _usage_table(usages: Sequence[Usage], *, ost: bool) -> pa.Table:
    picks = [np.flatnonzero(usage.ost == ost) for usage in usages]

    def column(name: str) -> NDArray[Any]:
        pairs = zip(usages, picks, strict=True)
        return np.concatenate([getattr(usage, name)[pick] for usage, pick in pairs])

    minimum, maximum = column("minimum"), column("maximum")
    columns = [
        pa.array(column("end_us"), TIME),
        pa.array(column("begin_us"), TIME),
        pa.array(column("series").astype(np.int32)),
        pa.array(column("operation").astype(np.int16)),
        pa.array(column("samples")),
        pa.array(column("total")),
        pa.array(column("sumsq")),
        pa.array(minimum, mask=minimum < 0),
        pa.array(maximum, mask=maximum < 0),
        pa.array(column("restarted")),
        pa.array(column("baseline")),
    ]
    return pa.Table.from_arrays(columns, schema=USAGE)


def _bins_table(usages: Sequence[Usage]) -> pa.Table:
    def column(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(usage.bins, name) for usage in usages])

    times = [usage.end_us[:1].repeat(len(usage.bins.count)) for usage in usages]
    columns = [
        pa.array(np.concatenate(times), TIME),
        pa.array(column("series").astype(np.int32)),
        pa.array(column("operation").astype(np.int16)),
        pa.array(column("bound")),
        pa.array(column("count")),
    ]
    return pa.Table.from_arrays(columns, schema=HISTOGRAMS)


def _summed(table: pa.Table) -> pa.Table:
    """Make one row of all that have one series, operation, time and kind."""
    keys = ["time", "series", "operation", "baseline"]
    how = {
        "begin": "min", "samples": "sum", "total": "sum", "sumsq": "sum",
        "minimum": "min", "maximum": "max", "restarted": "min",
    }  # fmt: skip
    grouped = table.group_by(keys).aggregate(list(how.items()))
    names = {f"{name}_{function}": name for name, function in how.items()}
    grouped = grouped.rename_columns([names.get(n, n) for n in grouped.column_names])
    return grouped.select(USAGE.names).cast(USAGE)


def quality_columns(
    time_us: int, server: str, stats: JobStats, quality: NDArray[np.int8]
) -> Columns:
    """Count the entries of a snapshot by target and quality."""
    entries = np.bincount(stats.target.astype(np.int64) * _QUALITIES + quality)
    keys = np.flatnonzero(entries)
    marks = [class_and_system(key) for key in (keys % _QUALITIES).tolist()]
    return {
        "time": repeat(time_us, len(keys)),
        "server": repeat(server, len(keys)),
        "target": [stats.targets[number] for number in (keys // _QUALITIES).tolist()],
        "class": [name for name, _ in marks],
        "system": [system for _, system in marks],
        "entries": entries[keys].tolist(),
    }


def totals_columns(
    time_us: int, server: str, target: str, increments: TotalIncrements, rows: NDArray[np.int64]
) -> Columns:
    """Return the totals' increments; `rows` are the numbers of their operations."""
    count = len(rows)
    return {
        "time": repeat(time_us, count),
        "begin": repeat(increments.begin_us, count),
        "server": repeat(server, count),
        "target": repeat(target, count),
        "operation": rows.tolist(),
        "samples": increments.samples.tolist(),
        "total": increments.total.tolist(),
        "sumsq": increments.sumsq.tolist(),
    }
