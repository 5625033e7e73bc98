"""The factors behind a run's bandwidth, of many runs at once, in arrays.

A factor of a run is that of its critical files, weighted with the time that each alone was the
cause of. Bandwidth is told by the span from the first access to the last and by the critical path.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pfscope.mine.factors_files import PARTS
from pfscope.mine.factors_rules import Rules
from pfscope.mine.sweep import Indices, Seconds
from pfscope.mine.sweep_files import (
    FilePath,
    Spans,
    numbers,
    path_of,
    run_numbers,
    spans_of,
)

MIB: Final = 2**20
_MOST: Final = 2.0**62
"""More bytes than this are nonsense, and no number of 64 bits."""
RUN_COLUMNS: Final = (
    "job_id", "log", "start", "user", "executable", "nprocs", "ost_count", "read_s", "write_s",
    "meta_s", "partial",
)  # fmt: skip
"""What is taken of `darshan_job`."""
_PERCENT: Final = {
    "small": "small_pct", "nonconsec": "nonconsec_pct", "coll": "coll_pct",
    "misaligned": "misaligned_pct",
}  # fmt: skip


class Worked(NamedTuple):
    """Factors of runs, and the paths that they were weighted with."""

    runs: pa.Table
    """A row for each run: `COLUMNS`."""
    files: pa.Table
    """The files that took part, as `files_measured` gives them."""
    spans: Spans
    path: FilePath
    exclusive: Seconds
    """Of each file, the time that it alone was the cause of."""


class _Sums:
    """Sums over files, by run."""

    def __init__(self, run: Indices, count: int) -> None:
        self._run = run
        self._count = count

    def of(self, values: Seconds | NDArray[np.bool_]) -> Seconds:
        return summed(self._run, values, self._count)

    def most(self, values: Seconds) -> Seconds:
        found = np.zeros(self._count)
        np.maximum.at(found, self._run, values)
        return found

    def weighted(self, values: Seconds, weights: Seconds) -> Seconds:
        """Return means; what is NaN says nothing, and a run of which nothing is known is NaN."""
        known = np.isfinite(values)
        parts = self.of(np.where(known, values, 0) * weights)
        return over(parts, self.of(known * weights))


def work_out(
    jobs: pa.Table, files: pa.Table, rules: Rules, traced: pa.Table | None = None
) -> Worked:
    """Return the factors of runs, given rows of `darshan_job` and of `files_measured`."""
    run = run_numbers(files["log"], jobs["log"])
    spans = spans_of(files, rules, traced)
    path = path_of(spans, run)
    exclusive = summed(path.row, path.length, files.num_rows)
    sums = _Sums(run, jobs.num_rows)
    times = _times(spans, path, run, jobs.num_rows)
    moved = sums.of(numbers(files["moved"])) if rules.kinds else np.full(jobs.num_rows, np.nan)
    parts = {part: sums.weighted(numbers(files[part]), exclusive) for part in PARTS}
    columns: dict[str, NDArray[Any]] = {
        "operation": np.full(jobs.num_rows, rules.operation),
        "bytes": moved,
        "files": sums.of(np.ones(files.num_rows)).astype(np.int64),
        "critical_files": sums.of(exclusive > 0).astype(np.int64),
        **times,
        "bandwidth_span_mib_s": over(moved / MIB, times["span_s"]),
        "bandwidth_critical_mib_s": over(moved / MIB, times["critical_s"]),
        **{column: 100 * parts[part] for part, column in _PERCENT.items()},
        "proc_per_ost": parts["per_ost"],
        "top_file_pct": 100 * over(sums.most(exclusive), times["critical_s"]),
        "imbalance_pct": _imbalance(files, run, numbers(jobs["nprocs"])),
        "metadata_pct": _metadata(jobs),
    }
    return Worked(_table(jobs, columns), files, spans, path, exclusive)


def summed(places: Indices, values: Seconds | NDArray[np.bool_], count: int) -> Seconds:
    """Return sums of values by their places."""
    return np.bincount(places, values, count).astype(np.float64)


def over(part: Seconds, whole: Seconds) -> Seconds:
    """Divide; nothing of nothing is NaN."""
    found: Seconds = np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
    return found


def _times(spans: Spans, path: FilePath, run: Indices, runs: int) -> dict[str, Seconds]:
    first, last = np.full(runs, np.inf), np.full(runs, -np.inf)
    of_run = run[spans.row]
    np.minimum.at(first, of_run, spans.start)
    np.maximum.at(last, of_run, spans.end)
    span = np.where(last > first, last - first, 0.0)
    # What is added up piece by piece may miss the whole by a rounding.
    critical = np.minimum(summed(path.run, path.length, runs), span)
    critical = np.where(span - critical > 1e-12 * last, critical, span)
    in_use = summed(of_run, spans.end - spans.start, runs)
    return {
        "span_s": span,
        "critical_s": critical,
        "idle_pct": 100 * over(span - critical, span),
        "files_at_once": over(in_use, critical),
    }


def _imbalance(files: pa.Table, run: Indices, nprocs: Seconds) -> Seconds:
    """Return which part of the busiest rank's time in I/O the mean rank does not have.

    Of a file that several ranks used, the slowest one's time is known and the mean of the others.
    """
    spent, ranks = numbers(files["seconds"]), numbers(files["ranks"])
    slowest_s = numbers(files["slowest_rank_s"])
    alone = np.isfinite(numbers(files["rank"]))
    shared = ~alone & np.isfinite(slowest_s) & (ranks > 1)
    each = np.where(shared, np.maximum(spent - slowest_s, 0) / np.maximum(ranks - 1, 1), 0.0)
    each = np.where(~alone & ~shared, spent / np.maximum(ranks, 1), each)
    owner = np.where(alone, numbers(files["rank"]), numbers(files["slowest_rank"]))
    own = np.where(alone, spent, np.where(shared, slowest_s - each, 0.0))
    told = np.isfinite(owner)
    width = int(nprocs.max(initial=1)) + 1
    keys, places = np.unique(run[told] * width + owner[told].astype(np.int64), return_inverse=True)
    by_rank = summed(places, own[told], len(keys))
    most = np.zeros(len(nprocs))
    np.maximum.at(most, keys // width, by_rank)
    sums = _Sums(run, len(nprocs))
    return np.clip(100 * (1 - over(sums.of(spent) / nprocs, most + sums.of(each))), 0, 100)


def _metadata(jobs: pa.Table) -> Seconds:
    """Return which part of all time in I/O calls was opens, closes, stats and seeks."""
    spent = [np.nan_to_num(numbers(jobs[name])) for name in ("meta_s", "read_s", "write_s")]
    return 100 * over(spent[0], np.sum(spent, axis=0))


def _table(jobs: pa.Table, columns: dict[str, NDArray[Any]]) -> pa.Table:
    """Put what is known of runs beside what was worked out; NaN becomes null."""
    kept = ("job_id", "log", "start", "user", "executable", "nprocs")
    whole = {name: jobs[name] for name in kept}
    whole |= {name: pa.array(values, from_pandas=True) for name, values in columns.items()}
    whole["bytes"] = pc.min_element_wise(whole["bytes"], _MOST, skip_nulls=False).cast(pa.int64())
    return pa.table(whole | {"ost_count": jobs["ost_count"], "partial": jobs["partial"]})
