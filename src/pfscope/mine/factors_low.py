"""Factors of many runs of a lake at once, and the search for those of low bandwidth.

A run's bandwidth over its critical path is at least that over its span, so the span, which an
engine works out on its own, leaves few runs whose files have to be gone through.
"""

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa

from pfscope.mine.factors import MIB, RUN_COLUMNS, work_out
from pfscope.mine.factors_files import files_measured, runs_measured
from pfscope.mine.factors_rules import Rules
from pfscope.mine.sources import Tables
from pfscope.mine.sweep_files import numbers

if TYPE_CHECKING:
    import ibis.expr.types as ir

BANDWIDTH: Final = "bandwidth_critical_mib_s"
_FILES_AT_ONCE: Final = 4_000_000
_MOST_NAMED: Final = 10_000


class Search(NamedTuple):
    """Which runs to look for."""

    below: float = float("inf")
    """Bytes per second."""
    above: float = 0.0
    min_procs: int = 1
    min_bytes: float = 1
    min_bytes_per_proc: float = 0
    executable: str | None = None
    user: str | None = None


def low(tables: Tables, rules: Rules, search: Search) -> pa.Table:
    """Return the factors of runs with a bandwidth in a range, the lowest first."""
    candidates = _candidates(tables, rules, search)
    found = factors_of(tables, rules, candidates["log"])
    bandwidth = numbers(found[BANDWIDTH]) * MIB
    kept = (bandwidth >= search.above) & (bandwidth < search.below)
    kept &= numbers(found["bytes"]) >= search.min_bytes
    kept &= numbers(found["bytes"]) >= search.min_bytes_per_proc * numbers(found["nprocs"])
    order = [(BANDWIDTH, "ascending"), ("job_id", "ascending"), ("log", "ascending")]
    return found.filter(pa.array(kept)).sort_by(order)


def factors_of(tables: Tables, rules: Rules, logs: pa.ChunkedArray) -> pa.Table:
    """Return the factors of runs, as many at a time as memory has room for."""
    jobs = tables.table("darshan_job")
    rows = _of_logs(tables, jobs.select(*RUN_COLUMNS, "files"), logs)
    parts = []
    for group in _groups(rows):
        files = files_measured(tables.table("darshan_file"), rules)
        measured = _of_logs(tables, files, group["log"])
        parts.append(work_out(group, measured, rules).runs)
    return pa.concat_tables(parts)


def _candidates(tables: Tables, rules: Rules, search: Search) -> pa.Table:
    """Return the logs of runs whose bandwidth over the span does not exclude them."""
    jobs = tables.table("darshan_job")
    wanted = jobs.filter(jobs.nprocs >= search.min_procs)
    if search.executable is not None:
        wanted = wanted.filter(wanted.executable == search.executable)
    if search.user is not None:
        wanted = wanted.filter(wanted.user == search.user)
    runs = runs_measured(tables.table("darshan_file"), rules)
    slow = runs.filter(runs.moved > 0, runs.span_s > 0)
    if np.isfinite(search.below):
        slow = slow.filter(slow.moved < search.below * slow.span_s)
    return tables.rows(wanted.semi_join(slow, "log").select("log"))


def _groups(rows: pa.Table) -> list[pa.Table]:
    """Cut runs into groups of not too many files each."""
    if not rows.num_rows:
        return [rows]
    files = np.nan_to_num(numbers(rows["files"]))
    place = (np.cumsum(files) // _FILES_AT_ONCE).astype(np.int64)
    starts = np.flatnonzero(np.diff(place, prepend=-1)).tolist()
    return [rows.slice(a, b - a) for a, b in zip(starts, [*starts[1:], len(place)], strict=True)]


def _of_logs(tables: Tables, expression: "ir.Table", logs: pa.ChunkedArray) -> pa.Table:
    """Return the rows of some logs."""
    import ibis

    if not len(logs):
        return tables.rows(expression.limit(0))
    if len(logs) <= _MOST_NAMED:
        return tables.rows(expression.filter(expression.log.isin(logs.to_pylist())))
    named = ibis.memtable(pa.table({"log": logs}))
    return tables.rows(expression.semi_join(named, "log"))
