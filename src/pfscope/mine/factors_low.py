"""Factors of many runs of a lake at once, and the search for those of low bandwidth.

A run's bandwidth over its critical path is at least that over its span, so the span, which an
engine works out on its own, leaves few runs whose files have to be gone through.
"""

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pfscope.mine.factors import MIB, RUN_COLUMNS, work_out
from pfscope.mine.factors_files import files_measured, runs_measured
from pfscope.mine.factors_rules import Rules
from pfscope.mine.sources import Tables
from pfscope.mine.sweep_files import numbers

if TYPE_CHECKING:
    import ibis.expr.types as ir

BANDWIDTH: Final = "bandwidth_critical_mib_s"
_FILES_AT_ONCE: Final = 4_000_000


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


def low(tables: Tables, rules: Rules, search: Search, among: "ir.Table | None" = None) -> pa.Table:
    """Return the factors of runs with a bandwidth in a range, the lowest first.

    `among` names the `log` of the runs that are looked at; without it they are all.
    """
    candidates = _candidates(tables, rules, search)
    if among is not None:
        candidates = candidates.semi_join(among.select("log").view(), "log")
    found = factors_of(tables, rules, candidates)
    bandwidth = numbers(found[BANDWIDTH]) * MIB
    kept = (bandwidth >= search.above) & (bandwidth < search.below)
    kept &= numbers(found["bytes"]) >= search.min_bytes
    kept &= numbers(found["bytes"]) >= search.min_bytes_per_proc * numbers(found["nprocs"])
    order = [(BANDWIDTH, "ascending"), ("job_id", "ascending"), ("log", "ascending")]
    return found.filter(pa.array(kept)).sort_by(order)


def factors_of(tables: Tables, rules: Rules, wanted: "ir.Table") -> pa.Table:
    """Return the factors of rows of `darshan_job`, as many at a time as memory has room for."""
    jobs = tables.rows(wanted.select(*RUN_COLUMNS, "files"))
    files = files_measured(tables.table("darshan_file"), rules).semi_join(wanted, "log")
    parts = []
    for low, high in _ranges(jobs):
        some = files if high is None else files.filter(files.log < high)
        some = some if low is None else some.filter(some.log >= low)
        inside = np.ones(jobs.num_rows, bool)
        inside &= True if low is None else pc.greater_equal(jobs["log"], low).to_numpy()
        inside &= True if high is None else pc.less(jobs["log"], high).to_numpy()
        parts.append(work_out(jobs.filter(pa.array(inside)), tables.rows(some), rules).runs)
    return pa.concat_tables(parts)


def _candidates(tables: Tables, rules: Rules, search: Search) -> "ir.Table":
    """Return the runs whose bandwidth over the span does not exclude them."""
    jobs = tables.table("darshan_job")
    wanted = jobs.filter(jobs.nprocs >= search.min_procs)
    if search.executable is not None:
        wanted = wanted.filter(wanted.executable == search.executable)
    if search.user is not None:
        wanted = wanted.filter(wanted.user == search.user)
    runs = runs_measured(tables.table("darshan_file"), rules)
    slow = runs.filter(runs.moved >= max(search.min_bytes, 1), runs.span_s > 0)
    if np.isfinite(search.below):
        slow = slow.filter(slow.moved < search.below * slow.span_s)
    return wanted.semi_join(slow, "log")


def _ranges(jobs: pa.Table) -> list[tuple[str | None, str | None]]:
    """Return ranges of logs that have not too many files each."""
    files = np.nan_to_num(numbers(jobs["files"]))
    order = pc.sort_indices(jobs["log"]).to_numpy()
    place = (np.cumsum(files[order]) // _FILES_AT_ONCE).astype(np.int64)
    firsts = order[np.flatnonzero(np.diff(place, prepend=0))]
    bounds = [jobs["log"][int(first)].as_py() for first in firsts]
    return list(zip([None, *bounds], [*bounds, None], strict=True))
