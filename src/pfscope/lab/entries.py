"""The entries of all targets of one kind, as Lustre keeps them between requests.

Entries stand in the order in which they were made. One that no request has touched for the cleanup
interval goes at the next scan; scans are at least half an interval apart and need a request. What
comes back afterwards counts from zero and has a new start time.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pfscope.lab.activity import Draw
from pfscope.lab.archetypes import OPERATIONS, SLOTS, Profiles
from pfscope.lab.dialects import Kind
from pfscope.lab.measures import Block, groups, zeros
from pfscope.lab.sources import Floats
from pfscope.lab.tables import HISTOGRAM_BINS, Counters

NONE = -1


@dataclass(slots=True)
class _Columns:
    """One row for each entry; those from `count` on are spare."""

    entry_id: NDArray[np.int64]
    target: NDArray[np.int64]
    start_ns: NDArray[np.int64]
    """By the laboratory's clock, and so `last_ns`; the others by the server's."""
    last_ns: NDArray[np.int64]
    start_wall_ns: NDArray[np.int64]
    last_wall_ns: NDArray[np.int64]
    io_sizes: Counters
    """[entries, 2, sizes]"""


@dataclass(frozen=True, slots=True)
class Shown:
    """The entries of one target, in the order of printing."""

    rows: NDArray[np.intp]
    entry_id: NDArray[np.int64]
    start_ns: NDArray[np.int64]
    last_ns: NDArray[np.int64]
    start_wall_ns: NDArray[np.int64]
    last_wall_ns: NDArray[np.int64]


class Entries:
    """The job_stats of all targets of one kind."""

    def __init__(self, kind: Kind, targets: int, profiles: Profiles, begin_ns: int) -> None:
        self._targets, self._width = targets, len(OPERATIONS[kind])
        sizes = np.unique(profiles.slot_sizes)
        self._bins = np.unique(bin_of(sizes))
        self._count = 0
        self._block = zeros(0, self._width)
        none = np.zeros(0, np.int64)
        io_sizes = np.zeros((0, 2, len(self._bins)), np.uint64)
        self._columns = _Columns(none, none, none, none, none, none, io_sizes)
        self._slot = np.full((0, targets), NONE, np.int32)
        # Targets do not scan in step: each has its own phase.
        self._phase_ns = np.arange(targets) * 97 * 10**9
        self._scanned_ns = np.full(targets, begin_ns)

    def __len__(self) -> int:
        return self._count

    def book(
        self, draw: Draw, block: Block, window_ns: tuple[NDArray[np.int64], NDArray[np.int64]],
        wall_offset_ns: NDArray[np.int64], rng: np.random.Generator,
    ) -> None:  # fmt: skip
        """Add what a draw did; rows of one id and target come together.

        Requests fall anywhere into each row's window. Rows without an id are left out.
        """
        named = np.flatnonzero(draw.entry_id >= 0)
        if not len(named):
            return
        key = draw.entry_id[named].astype(np.int64) * self._targets + draw.target[named]
        order, starts = groups(key)
        rows = named[order]
        entry_id, target = np.divmod(key[order[starts]], self._targets)
        together = block.take(rows).grouped(starts)
        first, last = _moments(
            np.minimum.reduceat(window_ns[0][rows], starts),
            np.maximum.reduceat(window_ns[1][rows], starts),
            together.samples.sum(axis=1).astype(np.float64),
            rng,
        )
        slots = self._slots(entry_id, target, first, wall_offset_ns)
        self._block.merge(slots, together)
        self._columns.last_ns[slots] = last
        self._columns.last_wall_ns[slots] = last + wall_offset_ns[target]
        sizes = self._by_bin(draw, rows)
        self._columns.io_sizes[slots] += np.add.reduceat(sizes, starts)

    def scan(
        self, now_ns: int, interval_s: int, busy: NDArray[np.bool_],
        wall_offset_ns: NDArray[np.int64],
    ) -> None:  # fmt: skip
        """Let idle entries go on those busy targets whose last scan is long enough ago.

        Lustre judges by the server's wall clock, and so misjudges after a step of it. An entry is
        older by a third of the interval before anybody looks.
        """
        if interval_s == 0:
            return
        interval_ns = interval_s * 1_000_000_000
        period_ns = interval_ns // 2
        rounds = (now_ns + self._phase_ns) // period_ns
        due = busy & (rounds > (self._scanned_ns + self._phase_ns) // period_ns)
        self._scanned_ns[due] = now_ns
        c = self._columns
        wall_ns = now_ns + wall_offset_ns[c.target[: self._count]]
        idle = c.last_wall_ns[: self._count] < wall_ns - interval_ns - interval_ns // 3
        self._remove(idle & due[c.target[: self._count]])

    def forget(self, target: int, now_ns: int) -> None:
        """Remove all entries of a target that another server takes up, or whose server reboots."""
        self._scanned_ns[target] = now_ns
        self._remove(self._columns.target[: self._count] == target)

    def shown(self) -> list[Shown]:
        """Return the entries of each target."""
        c, count = self._columns, self._count
        order = np.argsort(c.target[:count], kind="stable")
        ends = np.searchsorted(c.target[:count][order], np.arange(self._targets + 1))
        return [
            Shown(
                rows := order[first:last],
                c.entry_id[rows],
                c.start_ns[rows],
                c.last_ns[rows],
                c.start_wall_ns[rows],
                c.last_wall_ns[rows],
            )
            for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
        ]

    def counters(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Block:
        """Return the counters of entries for some operations, as Lustre shows them."""
        return Block(*(m[np.ix_(rows, columns)] for m in self._block.all)).shown()

    def histograms(self, rows: NDArray[np.intp]) -> Counters:
        """Return the I/O sizes of entries, [entries, 2, HISTOGRAM_BINS]."""
        return self.expanded(self._columns.io_sizes[rows])

    def expanded(self, by_bin: Counters) -> Counters:
        """Return compact histograms at full width."""
        full = np.zeros((*by_bin.shape[:-1], HISTOGRAM_BINS), np.uint64)
        full[..., self._bins] = by_bin
        return full

    def no_sizes(self, rows: int) -> Counters:
        """Return compact histograms that have counted nothing."""
        return np.zeros((rows, 2, len(self._bins)), np.uint64)

    def by_bin(self, draw: Draw) -> Counters:
        """Return the I/O sizes of each row of a draw, [rows, 2, sizes in use]."""
        return self._by_bin(draw, np.arange(len(draw.source)))

    def _by_bin(self, draw: Draw, rows: NDArray[np.intp]) -> Counters:
        result = np.zeros((len(rows), 2, len(self._bins)), np.uint64)
        where = np.searchsorted(self._bins, bin_of(draw.sizes[rows]))
        every = np.arange(len(rows))
        for slot in range(2 * SLOTS):
            result[every, slot // SLOTS, where[:, slot]] += draw.by_size[rows, slot]
        return result

    def _slots(
        self, entry_id: NDArray[np.int64], target: NDArray[np.int64], first_ns: NDArray[np.int64],
        wall_offset_ns: NDArray[np.int64],
    ) -> NDArray[np.intp]:  # fmt: skip
        """Return the rows of entries, made where there are none yet, the earliest first."""
        self._reach(int(entry_id.max()) + 1)
        slots = self._slot[entry_id, target].astype(np.intp)
        new = np.flatnonzero(slots == NONE)
        new = new[np.argsort(first_ns[new], kind="stable")]
        begin, end = self._count, self._count + len(new)
        self._grow(end)
        slots[new] = np.arange(begin, end)
        self._slot[entry_id[new], target[new]] = slots[new]
        c = self._columns
        c.entry_id[begin:end], c.target[begin:end] = entry_id[new], target[new]
        c.start_ns[begin:end] = first_ns[new]
        c.start_wall_ns[begin:end] = first_ns[new] + wall_offset_ns[target[new]]
        self._count = end
        return slots

    def _remove(self, gone: NDArray[np.bool_]) -> None:
        if not gone.any():
            return
        c, count = self._columns, self._count
        self._slot[c.entry_id[:count][gone], c.target[:count][gone]] = NONE
        keep = np.flatnonzero(~gone)
        left = len(keep)
        for array in self._arrays():
            array[:left] = array[keep]
        self._block.clear(slice(left, count))
        c.io_sizes[left:count] = 0
        self._slot[c.entry_id[:left], c.target[:left]] = np.arange(left)
        self._count = left

    def _arrays(self) -> list[NDArray[np.int64] | Counters]:
        c = self._columns
        mine = [c.entry_id, c.target, c.start_ns, c.last_ns, c.start_wall_ns, c.last_wall_ns]
        return [*mine, c.io_sizes, *self._block.all]

    def _grow(self, rows: int) -> None:
        have = len(self._columns.entry_id)
        if rows <= have:
            return
        more = max(rows, 2 * have, 1024) - have
        extended = [
            np.concatenate((a, np.zeros((more, *a.shape[1:]), a.dtype))) for a in self._arrays()
        ]
        self._columns = _Columns(*extended[:7])
        self._block = Block(*extended[7:])
        self._block.clear(slice(have, None))

    def _reach(self, ids: int) -> None:
        have = len(self._slot)
        if ids > have:
            more = np.full((max(ids, 2 * have) - have, self._targets), NONE, np.int32)
            self._slot = np.concatenate((self._slot, more))


def bin_of(size: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the histogram bin of sizes: bin b counts (2^(b-1), 2^b]."""
    return np.ceil(np.log2(size)).astype(np.int64)


def _moments(
    begin_ns: NDArray[np.int64],
    end_ns: NDArray[np.int64],
    requests: Floats,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return when the first and the last of so many requests happened, spread over windows."""
    span = np.maximum(end_ns - begin_ns, 0).astype(np.float64)
    last = span * rng.random(len(span)) ** (1.0 / requests)
    others = np.maximum(requests - 1.0, 1.0)
    first = last * (1.0 - rng.random(len(span)) ** (1.0 / others))
    first = np.where(requests > 1, first, last)
    return begin_ns + first.astype(np.int64), begin_ns + last.astype(np.int64)
