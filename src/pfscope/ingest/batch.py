"""What a few frames add to the store, as Arrow tables of its schema."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pfscope.ingest.difference import Usage
from pfscope.ingest.series import class_and_system
from pfscope.ingest.totals import TotalIncrement
from pfscope.lustre.job_stats import JobStats
from pfscope.store.protocol import LedgerChange
from pfscope.store.schema import HISTOGRAMS, OPERATIONS, QUALITY, TABLES, TARGET_TOTALS, TIME, USAGE


class Batch:
    """Tables that grow frame by frame, and are stored together."""

    def __init__(self) -> None:
        self._parts: dict[str, list[pa.Table]] = {}
        self.ledger: list[LedgerChange] = []
        self.frames: set[tuple[str, str, int]] = set()

    def __len__(self) -> int:
        return len(self.frames)

    def add(self, name: str, table: pa.Table) -> None:
        """Add rows to a table of the schema."""
        if table.num_rows:
            self._parts.setdefault(name, []).append(table)

    def add_rows(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add a few rows."""
        self.add(name, pa.Table.from_pylist(list(rows), TABLES[name]))

    def add_usage(self, usage: Usage, others: NDArray[np.int64]) -> None:
        """Add increments; rows of series that share a number are added up."""
        for name, rows in (("usage_mdt", ~usage.ost), ("usage_ost", usage.ost)):
            if rows.any():
                table = _usage_table(usage, rows)
                shared = len(others) and np.isin(usage.series[rows], others).any()
                self.add(name, _summed(table) if shared else table)
        self.add("histograms", _bins_table(usage))

    def count(self, server: str, outcome: str, reason: str, frames: int, entries: int) -> None:
        """Add to the ledger of the ingest."""
        if frames or entries:
            self.ledger.append(LedgerChange("ingest", server, outcome, reason, frames, entries))

    def tables(self) -> dict[str, pa.Table]:
        """Return all tables that have rows."""
        return {name: pa.concat_tables(parts) for name, parts in self._parts.items()}


def _usage_table(usage: Usage, rows: NDArray[np.bool_]) -> pa.Table:
    # Most often all rows are of one kind, and a view is cheaper than a copy.
    pick: Any = slice(None) if rows.all() else rows
    columns = [
        pa.array(usage.end_us[pick], TIME),
        pa.array(usage.begin_us[pick], TIME),
        pa.array(usage.series[pick].astype(np.int32)),
        pa.array(usage.operation[pick].astype(np.int16)),
        pa.array(usage.samples[pick]),
        pa.array(usage.total[pick]),
        pa.array(usage.sumsq[pick]),
        pa.array(usage.minimum[pick], mask=usage.minimum[pick] < 0),
        pa.array(usage.maximum[pick], mask=usage.maximum[pick] < 0),
        pa.array(usage.restarted[pick]),
        pa.array(usage.baseline[pick]),
    ]
    return pa.Table.from_arrays(columns, schema=USAGE)


def _bins_table(usage: Usage) -> pa.Table:
    bins = usage.bins
    time_us = usage.end_us[:1].repeat(len(bins.count))
    columns = [
        pa.array(time_us, TIME),
        pa.array(bins.series.astype(np.int32)),
        pa.array(bins.operation.astype(np.int16)),
        pa.array(bins.bound),
        pa.array(bins.count),
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


def operations_table(operations: Sequence[tuple[str, str]], first: int) -> pa.Table:
    """Return the rows of the operations from number `first` on."""
    rows = [
        {"operation": i, "name": name, "unit": unit}
        for i, (name, unit) in enumerate(operations)
        if i >= first
    ]
    return pa.Table.from_pylist(rows, OPERATIONS)


def quality_table(time_us: int, stats: JobStats, quality: NDArray[np.int8]) -> pa.Table:
    """Count the entries of a snapshot by target and quality."""
    key = stats.target.astype(np.int64) * 128 + quality
    found, entries = np.unique(key, return_counts=True)
    told = [class_and_system(int(k) % 128) for k in found]
    return pa.Table.from_arrays(
        [
            pa.array(np.full(len(found), time_us), TIME),
            pa.array([stats.targets[int(k) // 128] for k in found], pa.string()),
            pa.array([name for name, _ in told], pa.string()),
            pa.array([system for _, system in told], pa.bool_()),
            pa.array(entries, pa.int64()),
        ],
        schema=QUALITY,
    )


def totals_table(
    time_us: int, server: str, increments: Sequence[TotalIncrement], rows: NDArray[np.int64]
) -> pa.Table:
    """Return the totals' increments; `rows` are the numbers of their operations."""
    return pa.Table.from_arrays(
        [
            pa.array(np.full(len(increments), time_us), TIME),
            pa.array([i.begin_us for i in increments], TIME),
            pa.array([server] * len(increments), pa.string()),
            pa.array([i.target for i in increments], pa.string()),
            pc.cast(pa.array(rows, pa.int64()), pa.int16()),
            pa.array([i.samples for i in increments], pa.int64()),
            pa.array([i.total for i in increments], pa.int64()),
            pa.array([i.sumsq for i in increments], pa.float64()),
        ],
        schema=TARGET_TOTALS,
    )
