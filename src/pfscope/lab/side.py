"""All targets of one kind at work: entries, totals, clients, and what really happened.

Totals hold every request, also those of processes that have no id; entries only the others.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfscope.lab.activity import Activity, Draw
from pfscope.lab.archetypes import OPERATIONS, SLOTS
from pfscope.lab.dialects import BYTES_OPERATIONS, Kind
from pfscope.lab.entries import Entries
from pfscope.lab.machines import NS
from pfscope.lab.measures import Block, groups, zeros
from pfscope.lab.service import Costs, measure, work_us
from pfscope.lab.sources import Floats, Ints, Sources
from pfscope.lab.tables import Counters


@dataclass(frozen=True, slots=True)
class Usage:
    """What really happened, one row for each counter of an origin and id that rose."""

    origin: Ints
    entry_id: Ints
    target: Ints
    operation: Ints
    """Index into the kind's OPERATIONS."""
    increment: Counters
    """Requests; bytes for read_bytes and write_bytes."""

    def take(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> "Usage":
        """Return some of the rows."""
        return _usage_of({f.name: getattr(self, f.name)[rows] for f in fields(self)})


def _usage_of(columns: dict[str, Any]) -> Usage:
    return Usage(**columns)


_NONE = np.zeros(0, np.int32)
_NO_USAGE = Usage(_NONE, _NONE, _NONE, _NONE, np.zeros(0, np.uint64))


@dataclass(frozen=True, slots=True)
class Step:
    """What the targets of one kind did in a step."""

    draw: Draw
    origin: Ints
    work_us: Floats
    """How long an unloaded server works on each row."""


class Side:
    """The targets of one kind, and the sources that load them."""

    def __init__(
        self, kind: Kind, activity: Activity, entries: Entries, cost: Costs, owner: list[int],
        clients: int, begin_ns: int,
    ) -> None:  # fmt: skip
        self.kind, self.entries = kind, entries
        self._activity, self._cost, self._clients = activity, cost, clients
        targets = len(owner)
        self.owner = np.array(owner)
        """Which server serves each target now."""
        self.start_ns = np.full(targets, begin_ns)
        """When its server took each target up, by the laboratory's clock."""
        self.totals = zeros(targets, len(OPERATIONS[kind]))
        self.io_sizes = entries.no_sizes(targets)
        self.exports = zeros(targets * clients, len(OPERATIONS[kind]))
        self._pending: list[Usage] = []
        self._busy = np.zeros(len(owner), bool)

    def draw(self, sources: Sources, begin_ns: int, end_ns: int, down: NDArray[np.bool_]) -> Step:
        """Let the sources act."""
        draw = self._activity.draw(sources, begin_ns / NS, end_ns / NS, down)
        return Step(draw, sources.origin[draw.source], work_us(self._cost, draw))

    def count(
        self, step: Step, sources: Sources, slow: Floats, begin_ns: int, end_ns: int,
        wall_offset_ns: NDArray[np.int64],
        service_rng: np.random.Generator, entry_rng: np.random.Generator,
    ) -> None:  # fmt: skip
        """Let the targets count what was done; `slow` is each row's slowdown."""
        draw = step.draw
        block = measure(self.kind, self._cost, draw, slow, service_rng)
        self._busy[draw.target] = True
        window = _window(sources, draw.source, begin_ns, end_ns)
        self.entries.book(draw, block, window, wall_offset_ns, entry_rng)
        self._total(draw, block, sources.node[draw.source])
        self._pending.append(used(self.kind, step))

    def scan(
        self, now_ns: int, cleanup_interval_s: int, servers: NDArray[np.bool_],
        wall_offset_ns: NDArray[np.int64],
    ) -> None:  # fmt: skip
        """Let idle entries go on the targets of some servers that were busy since their last."""
        busy = self._busy & servers[self.owner]
        self.entries.scan(now_ns, cleanup_interval_s, busy, wall_offset_ns[self.owner])
        self._busy &= ~busy

    def observed(self, targets: NDArray[np.bool_], shown: NDArray[np.bool_]) -> Usage:
        """Return what happened on `targets` since they were last observed, and forget it.

        `shown` tells which operations each target prints: [targets, operations].
        """
        if not self._pending:
            return _NO_USAGE
        everything = _concatenated(self._pending)
        seen = targets[everything.target]
        self._pending = [] if seen.all() else [everything.take(~seen)]
        return _merged(everything.take(seen & shown[everything.target, everything.operation]))

    def forget(self, target: int, now_ns: int, start_ns: int) -> None:
        """Restart all counters of a target."""
        self.entries.forget(target, now_ns)
        self.start_ns[target] = start_ns
        self.totals.clear(slice(target, target + 1))
        self.io_sizes[target] = 0
        self.exports.clear(slice(target * self._clients, (target + 1) * self._clients))

    def _total(self, draw: Draw, block: Block, node: Ints) -> None:
        if not len(draw.target):
            return
        order, starts = groups(draw.target.astype(np.int64))
        targets = draw.target[order[starts]].astype(np.intp)
        self.totals.merge(targets, block.take(order).grouped(starts))
        self.io_sizes[targets] += np.add.reduceat(self.entries.by_bin(draw)[order], starts)
        if self._clients:
            known = np.flatnonzero(node >= 0)
            key = draw.target[known].astype(np.int64) * self._clients + node[known]
            order, starts = groups(key)
            together = block.take(known[order]).grouped(starts)
            self.exports.merge(key[order[starts]].astype(np.intp), together)


def _window(
    sources: Sources, rows: NDArray[np.int64], begin_ns: int, end_ns: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return when in a step each row's source is on, in nanoseconds."""
    on = np.clip((sources.on_s[rows] - begin_ns / NS) * NS, 0, end_ns - begin_ns)
    off = np.clip((sources.off_s[rows] - begin_ns / NS) * NS, 0, end_ns - begin_ns)
    return begin_ns + on.astype(np.int64), begin_ns + off.astype(np.int64)


def used(kind: Kind, step: Step) -> Usage:
    """Return what was done in a step by those who have an id."""
    draw = step.draw
    amount = draw.samples.copy()
    carried = draw.by_size * draw.sizes.astype(np.uint64)
    for name, first in zip(BYTES_OPERATIONS, (0, SLOTS), strict=True):
        amount[:, OPERATIONS[kind].index(name)] = carried[:, first : first + SLOTS].sum(axis=1)
    amount[draw.entry_id < 0] = 0
    row, operation = np.nonzero(amount)
    return Usage(
        step.origin[row],
        draw.entry_id[row],
        draw.target[row],
        operation.astype(np.int32),
        amount[row, operation],
    )


def _concatenated(parts: list[Usage]) -> Usage:
    if len(parts) == 1:
        return parts[0]
    names = [f.name for f in fields(Usage)]
    return _usage_of({name: np.concatenate([getattr(p, name) for p in parts]) for name in names})


def _merged(usage: Usage) -> Usage:
    """Add up rows that differ in nothing but their increment."""
    keys = np.stack((usage.origin, usage.entry_id, usage.target, usage.operation))
    order = np.lexsort(keys[::-1])
    ordered = keys[:, order]
    first = np.ones(len(order), bool)
    first[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    if first.all():
        return usage
    starts = np.flatnonzero(first)
    merged = usage.take(order[starts])
    increment = np.add.reduceat(usage.increment[order], starts)
    return Usage(merged.origin, merged.entry_id, merged.target, merged.operation, increment)
