"""The critical path of runs, through their files: which file was the cause of which time.

Files come as rows of `files_measured`; runs as their numbers. A file that was read and written, or
opened and closed, has several intervals, and may own several pieces of the path.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pfscope.mine.factors_rules import Rules
from pfscope.mine.sweep import Indices, Seconds, sweep, union

SPANS: Final = {
    "read": ("read",), "write": ("write",), "metadata": ("open", "close"),
    "all": ("read", "write", "open", "close"),
}  # fmt: skip
"""The spans of time that a file has, by operation: columns `read_from`, `read_until`, …"""


class Spans(NamedTuple):
    """Intervals of files."""

    row: Indices
    """The file, by its row."""
    start: Seconds
    end: Seconds


class FilePath(NamedTuple):
    """The critical paths of some runs, piece by piece, in the order of runs and of time."""

    run: Indices
    row: Indices
    """The file, by its row."""
    start: Seconds
    end: Seconds

    @property
    def length(self) -> Seconds:
        """How long each piece is."""
        return self.end - self.start


def spans_of(measured: pa.Table, rules: Rules, traced: pa.Table | None = None) -> Spans:
    """Return all intervals of files; where accesses were traced, those instead of the span.

    Intervals of no length are among them: they are no part of a path, but of a run's span.
    """
    rows = np.arange(measured.num_rows)
    parts = []
    exact = _traced(measured, rules, traced) if rules.intervals == "exact" and traced else {}
    for name in SPANS[rules.operation]:
        start, end = (numbers(measured[f"{name}_{side}"]) for side in ("from", "until"))
        if name in exact:
            parts.append(exact[name])
            start = np.where(np.isin(rows, exact[name].row), np.nan, start)
        parts.append(Spans(rows, start, end))
    return joined_spans(parts)


def joined_spans(parts: Sequence[Spans]) -> Spans:
    """Return all of them as one, but those that are not known."""
    row = np.concatenate([np.empty(0, np.int64), *(part.row for part in parts)])
    start, end = (
        np.concatenate([np.empty(0), *column])
        for column in ([part.start for part in parts], [part.end for part in parts])
    )
    kept = end >= start
    return Spans(row[kept], start[kept], end[kept])


def path_of(spans: Spans, runs: Indices) -> FilePath:
    """Return the critical path of each run; `runs` are those of the rows."""
    run = runs[spans.row]
    pieces = sweep(spans.start, spans.end, run)
    return FilePath(run[pieces.interval], spans.row[pieces.interval], pieces.start, pieces.end)


def numbers(column: pa.ChunkedArray) -> Seconds:
    """Return a column as numbers; null is NaN."""
    found: Seconds = pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return found


def run_numbers(column: pa.ChunkedArray, logs: pa.ChunkedArray) -> Indices:
    """Return the number of the run that each row is of, by its place in `logs`."""
    found: Indices = pc.index_in(column, logs.combine_chunks()).to_numpy(zero_copy_only=False)
    return found.astype(np.int64)


def _traced(measured: pa.Table, rules: Rules, traced: pa.Table) -> dict[str, Spans]:
    """Return, for reads and writes, when each file was really in use."""
    keys = ["log", "file_id"]
    numbered = measured.select(keys).append_column("row", pa.array(range(measured.num_rows)))
    found = {}
    for kind in rules.kinds:
        segments = traced.filter(pc.equal(traced["operation"], kind)).join(
            numbered, keys, join_type="inner"
        )
        merged = union(
            numbers(segments["start_s"]), numbers(segments["end_s"]),
            segments["row"].to_numpy().astype(np.int64),
        )  # fmt: skip
        found[kind] = Spans(merged.group, merged.start, merged.end)
    return found
