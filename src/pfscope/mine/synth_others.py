"""The synthetic month as Slurm and the servers saw it: accounting of jobs, and LMT by target."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pfscope.mine.synth_rows import START_US, table
from pfscope.mine.synth_world import FIRST_JOB, OSTS, Ints, Runs

_DAY_US: Final = 86400 * 10**6
_STEP_S: Final = 3600
_DIGEST: Final = "5" * 32
_CORES: Final = 32
FILE_SYSTEM: Final = "scratch"


class Others:
    """Jobs with a log and as many without one, and what all of them moved on each OST."""

    def __init__(self, month: Runs, rng: np.random.Generator) -> None:
        count = len(month)
        other_start = rng.integers(0, month.days * _DAY_US, count)
        seconds = (month.read + month.written) / month.rate + month.idle_s * month.files
        self.start_us = START_US + np.concatenate([month.start_us, other_start])
        self.elapsed_s = np.concatenate([
            np.ceil(seconds).astype(np.int64) + 60, rng.integers(60, 7200, count)
        ])  # fmt: skip
        self.cpus = np.concatenate([month.processes, rng.choice([1, 32, 64, 1024], count)])
        self.completed = rng.random(2 * count) < 0.95
        self.again = rng.random(2 * count) < 0.01
        """The job was queued again: there is an older record too."""
        self.user = np.concatenate([month.application, rng.integers(0, 12, count)])
        steps = month.days * 86400 // _STEP_S
        shares = rng.integers(0, 2**20, (2, steps * OSTS))
        moved = np.array([month.read.sum(), month.written.sum()])
        self.lmt_read, self.lmt_written = shares * (1 + 4 * moved // shares.sum(axis=1))[:, None]

    @property
    def core_seconds(self) -> Ints:
        """What each job used of the machine."""
        used: Ints = self.cpus * self.elapsed_s
        return used

    def tables(self) -> Iterator[tuple[str, str, pa.Table]]:
        """Return the tables, by name and day."""
        yield from _by_day("slurm", "start", self._slurm())
        yield from _by_day("lmt", "time", self._lmt())

    def _slurm(self) -> pa.Table:
        count = len(self.cpus)
        last = self._records(np.arange(count), older=False)
        older = self._records(np.flatnonzero(self.again), older=True)
        rows = pa.concat_tables([last, older])
        return rows.sort_by([("job_id", "ascending"), ("submit", "ascending")])

    def _records(self, which: Ints, *, older: bool) -> pa.Table:
        """Return a record of each job; an older one is of an attempt that failed."""
        start = self.start_us[which] - (600 * 10**6 if older else 0)
        elapsed = np.full(len(which), 30) if older else self.elapsed_s[which]
        states = np.where(self.completed[which], "COMPLETED", "FAILED")
        users = pa.array([f"user{i:02d}" for i in range(64)]).take(pa.array(self.user[which]))
        return table("slurm", {
            "job_id": pa.array(FIRST_JOB + which).cast(pa.string()), "user_name": users,
            "user": pc.cast(pa.array(1000 + self.user[which]), pa.string()),
            "cluster": pa.repeat("synthetic", len(which)),
            "node_count": -(-self.cpus[which] // _CORES), "cpus": self.cpus[which],
            "submit": start - 60 * 10**6, "start": start, "elapsed_s": elapsed,
            "end": start + elapsed * 10**6,
            "state": pa.repeat("NODE_FAIL", len(which)) if older else pa.array(states.tolist()),
            "begun": np.ones(len(which), bool), "log": pa.repeat(_DIGEST, len(which)),
        })  # fmt: skip

    def _lmt(self) -> pa.Table:
        steps = len(self.lmt_read) // OSTS
        ost = np.tile(np.arange(OSTS), steps)
        ends = START_US + _STEP_S * 10**6 * (1 + np.repeat(np.arange(steps), OSTS))
        targets = pa.array([f"{FILE_SYSTEM}-OST{i:04x}" for i in range(OSTS)])
        rows = table("lmt", {
            "time": ends, "step_s": np.full(len(ost), float(_STEP_S)),
            "filesystem": pa.repeat(FILE_SYSTEM, len(ost)), "target": targets.take(pa.array(ost)),
            "ost": ost, "bytes_read": self.lmt_read, "bytes_written": self.lmt_written,
            "log": pa.repeat(_DIGEST, len(ost)),
        })  # fmt: skip
        return rows.sort_by([("target", "ascending"), ("time", "ascending")])


def _by_day(name: str, when: str, rows: pa.Table) -> Iterator[tuple[str, str, pa.Table]]:
    days = rows[when].cast(pa.int64()).to_numpy() // _DAY_US
    for day in np.unique(days):
        chosen: Any = rows.filter(pa.array(days == day))
        yield name, str(np.datetime64(int(day), "D")), chosen


__all__ = ["FILE_SYSTEM", "Others"]
