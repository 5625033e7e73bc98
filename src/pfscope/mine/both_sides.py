"""Both sides of a run: what Darshan saw in its processes, and what the servers saw of its job.

The two are laid on one axis of time, the steps of the servers' usage. They differ where clients
cache, where processes of the job were not watched by Darshan, and where clocks do.
"""

import re
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pfscope.mine.factors import summed
from pfscope.mine.factors_osts import OstUse
from pfscope.mine.sweep import Seconds
from pfscope.mine.sweep_files import numbers
from pfscope.query.data import Data

_TARGET: Final = re.compile(r"-OST([0-9a-f]{4})$")
_MARGIN: Final = timedelta(minutes=2)
"""Servers see what clients cached a while later."""
_NEIGHBOURS: Final = 8
_STEPS_S: Final = (10, 30, 60, 300, 900, 3600, 86400)
_MOST_STEPS: Final = 240
_COLUMNS: Final = {"read": "bytes_read", "write": "bytes_written"}


class Neighbour(NamedTuple):
    """Another job on the same targets in the same time."""

    user: str | None
    job: str | None
    bytes: float
    share: float
    """Of all bytes of these targets."""


class BothSides(NamedTuple):
    """Reads, or writes, of a run as its processes saw them and as the servers did."""

    kind: str
    edges_us: NDArray[np.int64]
    """Between the steps of time, before the first and behind the last."""
    processes: Seconds
    """Bytes in each step as Darshan has them, spread evenly over each file's time."""
    servers: Seconds
    """Bytes in each step as the servers have them."""
    processes_bytes: float
    """All bytes as Darshan has them."""
    targets: dict[str, float]
    """Bytes of the job by target."""
    expected: dict[str, float]
    """Bytes by target as Darshan has them."""
    neighbours: tuple[Neighbour, ...]
    own_share: float | None
    """Which part of all bytes of these targets the job moved."""
    reason: str | None
    """Why the servers say nothing of the job."""

    @property
    def servers_bytes(self) -> float:
        """All bytes as the servers have them."""
        return float(self.servers.sum())

    def told(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "operation": self.kind,
            "processes_bytes": self.processes_bytes,
            "servers_bytes": self.servers_bytes,
            "difference_bytes": self.servers_bytes - self.processes_bytes,
            "own_share": self.own_share,
            "targets": self.targets,
            "expected": self.expected,
            "neighbours": [neighbour._asdict() for neighbour in self.neighbours],
            "reason": self.reason,
        }


def both_sides(
    data: Data, job: dict[str, Any], files: pa.Table, use: OstUse, kind: str
) -> BothSides | None:
    """Return both sides of a run's reads or writes; None: it did none.

    `files` are rows of `files_measured` with bytes by kind, `data` is what watched the servers.
    """
    start, end = numbers(files[f"{kind}_from"]), numbers(files[f"{kind}_until"])
    moved = np.nan_to_num(numbers(files[_COLUMNS[kind]]))
    known = np.isfinite(start) & np.isfinite(end) & (moved > 0)
    start, end, moved = start[known], end[known], moved[known]
    if not len(start):
        return None
    window = {
        "start": _moment(job["start"], float(start.min()), -_MARGIN),
        "end": _moment(job["start"], float(end.max()), _MARGIN),
    }
    step_us = _step_us(window["end"] - window["start"])
    operation = f"{kind}_bytes"
    seen = data.ask(
        "series", by="target", job=job["job_id"], operation=operation, kind="ost",
        step=timedelta(microseconds=step_us), **window,
    )  # fmt: skip
    edges = _edges(seen.about["from_us"], seen.about["to_us"], step_us)
    since_us = round(job["start"].timestamp() * 1e6)
    gone = np.diff(_moved_until((edges - since_us) / 1e6, start, end, moved))
    by_target = _by_target(seen.table, edges)
    targets = {target: float(steps.sum()) for target, steps in by_target.items()}
    neighbours, own_share = _neighbours(data, job["job_id"], operation, list(targets), window)
    return BothSides(
        kind, edges, gone, sum(by_target.values(), np.zeros(len(gone))), float(moved.sum()),
        targets, _expected(use, targets), neighbours, own_share,
        None if len(seen) else str(seen.about.get("empty") or "the servers saw nothing of it"),
    )  # fmt: skip


def _step_us(window: timedelta) -> int:
    """Return the shortest usual step of which there are not too many."""
    seconds = window.total_seconds()
    return next((s for s in _STEPS_S if seconds / s <= _MOST_STEPS), _STEPS_S[-1]) * 10**6


def _edges(from_us: int, to_us: int, step_us: int) -> NDArray[np.int64]:
    """Return where steps begin and end: at multiples of the step, cut to the window."""
    inner = np.arange(from_us - from_us % step_us + step_us, to_us, step_us)
    return np.concatenate([[from_us], inner, [to_us]]).astype(np.int64)


def _moment(start: datetime, seconds: float, more: timedelta) -> datetime:
    moment: datetime = start + timedelta(seconds=seconds) + more
    return moment.replace(microsecond=0)


def _moved_until(at: Seconds, start: Seconds, end: Seconds, moved: Seconds) -> Seconds:
    """Return how many bytes were moved until some moments, each file's evenly in its time."""
    length = end - start
    rate = np.divide(moved, length, out=np.zeros(len(moved)), where=length > 0)
    times = np.concatenate([start, end])
    order = np.argsort(times, kind="stable")
    change = np.cumsum(np.concatenate([rate, -rate])[order])
    whole = np.concatenate([[0.0], np.cumsum(change[:-1] * np.diff(times[order]))])
    at_once = length <= 0
    jumps = np.sort(end[at_once])
    sums = np.concatenate([[0.0], np.cumsum(moved[at_once][np.argsort(end[at_once])])])
    evenly: Seconds = np.interp(at, times[order], whole)
    found: Seconds = evenly + sums[np.searchsorted(jumps, at, side="right")]
    return found


def _by_target(rows: pa.Table, edges: NDArray[np.int64]) -> dict[str, Seconds]:
    """Return bytes in each step by target, of rates."""
    steps = np.searchsorted(edges[1:], rows["time"].cast(pa.int64()).to_numpy())
    moved = numbers(rows["rate"]) * np.diff(edges)[steps] / 1e6
    names = rows["target"].combine_chunks().dictionary_encode()
    which = names.indices.to_numpy()
    found: dict[str, Seconds] = {
        name: summed(steps[which == i], moved[which == i], len(edges) - 1)
        for i, name in enumerate(names.dictionary.to_pylist())
    }
    return dict(sorted(found.items()))


def _expected(use: OstUse, targets: dict[str, float]) -> dict[str, float]:
    """Return what Darshan has for the OSTs with the indices of targets."""
    by_index = dict(zip(use.ost.tolist(), use.bytes.tolist(), strict=True))
    indices = {t: int(m[1], 16) for t in targets if (m := _TARGET.search(t)) is not None}
    return {target: by_index.get(index, 0.0) for target, index in indices.items()}


def _neighbours(
    data: Data, job: str, operation: str, targets: list[str], window: dict[str, Any]
) -> tuple[tuple[Neighbour, ...], float | None]:
    """Return who else moved most on some targets, and the job's own share there."""
    if not targets:
        return (), None
    rows = data.ask(
        "top", by=("user", "job"), operation=operation, target=targets, limit=1000, **window
    ).to_pylist()
    if not sum(row["total"] for row in rows):
        return (), None
    own = sum(row["share"] for row in rows if row["job"] == job)
    others = [row for row in rows if row["job"] != job]
    found = (
        Neighbour(row["user"], row["job"], float(row["total"]), float(row["share"]))
        for row in others[:_NEIGHBOURS]
    )
    return tuple(found), float(own)
