"""From the scheduler's records to the table `jobs`: a row is added where it says something new.

A job's latest row counts. It never says less than the ones before: what a text leaves out stays,
and an older record of a job than the stored one is passed by.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pfscope.logs.slurm import latest
from pfscope.store.protocol import Store
from pfscope.store.schema import JOBS, TIME

_STORED: Final = """
    SELECT * FROM jobs WHERE job IN (SELECT unnest(?::VARCHAR[]))
    QUALIFY row_number() OVER (PARTITION BY job ORDER BY recorded DESC) = 1
"""
_SAID: Final = [name for name in JOBS.names if name not in ("job", "recorded")]
"""The columns that make a row say something."""
_NEVER: Final = np.iinfo(np.int64).min


@dataclass(slots=True)
class JobCounts:
    """What became of jobs; each job of a batch is counted once."""

    new: int = 0
    updated: int = 0
    unchanged: int = 0
    older: int = 0
    """The store knows something later of them."""
    without_submit: int = 0
    """Their time of submission is not known; the first known time stands in its place."""

    @property
    def jobs(self) -> int:
        """All of them."""
        return self.new + self.updated + self.unchanged + self.older


class JobRecorder:
    """Writes the batches of one import. All its rows are recorded at one time.

    Only a further commit is a microsecond later, so that a job that comes again has an order.
    """

    def __init__(self, store: Store, now_us: int) -> None:
        self._store = store
        found = store.query("SELECT max(recorded) AS recorded FROM jobs")["recorded"]
        newest = found.cast(pa.int64()).to_pylist()[0]
        # A clock that was set back must not make the new rows older than the stored ones.
        self._recorded_us = max(now_us, _NEVER if newest is None else newest + 1)
        self.counts = JobCounts()

    def record(self, allocations: pa.Table) -> None:
        """Commit what the jobs of a batch (see `pfscope.logs.slurm`) say that is new."""
        said = latest(allocations)
        stored = self._stored(said["job"])
        known = pc.is_valid(stored["recorded"])
        rows, missing = self._rows(said, stored)
        older = pc.and_(known, _before(rows, stored))
        rows = _completed(rows, stored)
        same = pc.and_(known, _same(rows, stored))
        write = pc.invert(pc.or_(older, same))
        self._count(known, older, same, missing)
        if pc.any(write).as_py():
            self._store.commit({"jobs": rows.filter(write)}, [])
            self._recorded_us += 1

    def _stored(self, jobs: pa.ChunkedArray) -> pa.Table:
        """Return the latest stored row of each job, in the same order; nulls where none is."""
        found = self._store.query(_STORED, [jobs.to_pylist()])
        return found.take(pc.index_in(jobs, found["job"]))

    def _rows(self, said: pa.Table, stored: pa.Table) -> tuple[pa.Table, pa.ChunkedArray]:
        """Return rows of `jobs`, and for which of them no time of submission is known."""
        missing = pc.is_null(said["submit"])
        recorded = pa.scalar(self._recorded_us, pa.int64()).cast(TIME)
        first_known = (said[name] for name in ("submit", "eligible", "start"))
        known_before = pc.if_else(missing, stored["submit"], None)
        columns = {name: said[name] for name in JOBS.names if name != "recorded"}
        columns["submit"] = pc.coalesce(known_before, *first_known, recorded)
        columns["recorded"] = pa.repeat(recorded, len(missing))
        return pa.table(columns, schema=JOBS), missing

    def _count(
        self,
        known: pa.ChunkedArray,
        older: pa.ChunkedArray,
        same: pa.ChunkedArray,
        missing: pa.ChunkedArray,
    ) -> None:
        known_, older_, same_ = (np.asarray(a) for a in (known, older, same))
        self.counts.new += int((~known_).sum())
        self.counts.older += int((older_ & ~same_).sum())
        self.counts.unchanged += int(same_.sum())
        self.counts.updated += int((known_ & ~older_ & ~same_).sum())
        self.counts.without_submit += int(np.asarray(missing).sum())


def _completed(rows: pa.Table, stored: pa.Table) -> pa.Table:
    """Fill what a text left out of a run from what is stored of the same run."""
    same_run = pc.fill_null(pc.equal(rows["submit"], stored["submit"]), fill_value=False)
    for index, name in enumerate(JOBS.names):
        filled = pc.if_else(pc.and_(same_run, pc.is_null(rows[name])), stored[name], rows[name])
        rows = rows.set_column(index, JOBS.field(name), filled)
    return rows


def _same(rows: pa.Table, stored: pa.Table) -> pa.ChunkedArray:
    same = pa.chunked_array([pa.repeat(pa.scalar(value=True), rows.num_rows)])
    for name in _SAID:
        equal = pc.fill_null(pc.equal(rows[name], stored[name]), fill_value=False)
        nothing = pc.and_(pc.is_null(rows[name]), pc.is_null(stored[name]))
        same = pc.and_(same, pc.or_(equal, nothing))
    return same


def _before(rows: pa.Table, stored: pa.Table) -> pa.ChunkedArray:
    """Tell which rows are of an earlier run than the stored ones, or of an earlier time of it."""
    before = np.zeros(rows.num_rows, bool)
    decided = np.zeros(rows.num_rows, bool)
    for ours, theirs in zip(_age(rows), _age(stored), strict=True):
        before |= ~decided & (ours < theirs)
        decided |= ours != theirs
    return pa.chunked_array([pa.array(before)])


def _age(table: pa.Table) -> tuple[NDArray[np.int64], ...]:
    """Return what tells the order of two records of a job, the most telling first."""
    ended = np.asarray(pc.is_valid(table["end"])).astype(np.int64)
    return _instants(table, "submit"), _instants(table, "start"), ended


def _instants(table: pa.Table, column: str) -> NDArray[np.int64]:
    found: NDArray[np.int64] = pc.fill_null(table[column].cast(pa.int64()), _NEVER).to_numpy()
    return found
