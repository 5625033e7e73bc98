"""The entries of a snapshot: the memory of each, and what is known of it before it is judged.

Counters live in the server that shows them, so a target that moved is remembered for each of its
servers apart; its series are the same.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pfscope.ingest.memory import NEVER, Memory, Slots
from pfscope.lustre.clock import is_since_boot
from pfscope.lustre.columns import UNKNOWN_TIME, JobStats

CLEANUP_INTERVAL_S: Final = 600
"""Lustre's default `job_cleanup_interval`."""
_NEVER_REMOVED: Final = 2**62

Microseconds = NDArray[np.int64]
NewSeries = Callable[[list[tuple[str, bytes]], list[int]], tuple[list[int], list[int]]]
"""Gives each new (target, raw id), of so many samples each, its series' number and quality."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All entries of one server at one time, ready to be compared."""

    server: str
    time_us: int
    stats: JobStats
    known_since_us: int | None = None
    """When the server was last observed: what began after it is counted from zero."""
    server_ns: int | None = None
    """The server's own clock at the time, where its texts tell it: since 1970, or since boot."""
    restarted: frozenset[str] = frozenset()
    """Targets whose counters began anew since they were last observed, as others of theirs tell."""
    cleanup_s: Mapping[str, int] = field(default_factory=dict)
    """`job_cleanup_interval` of each target where it is known; 0 is never."""

    def absent_us(self, memory: Memory, target: str) -> int:
        """Return when a target that the server shows for the first time was not there yet."""
        elsewhere = memory.elsewhere(self.server, target, self.time_us)
        return max(elsewhere, NEVER if self.known_since_us is None else self.known_since_us)


@dataclass(slots=True)
class Entries:
    """The entries of a snapshot while they are judged."""

    slot: Slots
    new: NDArray[np.bool_]
    previous_us: Microseconds
    """The target's observation before this one, on any server; NEVER where there is none."""
    previous_server_ns: NDArray[np.int64]
    """The server's own clock at the target's latest observation."""
    cleanup_ns: NDArray[np.int64]
    restarted: NDArray[np.bool_]
    """All counters of the target began anew: it restarted, or came from another server."""
    counted: NDArray[np.bool_]
    """False for what a late snapshot must not count again, and for repeated entries."""
    started_us: Microseconds
    """NEVER where it is not known."""


def find_entries(snapshot: Snapshot, memory: Memory, new_series: NewSeries) -> Entries:
    """Find the slot of every entry, a fresh one for every new entry."""
    stats, time = snapshot.stats, snapshot.time_us
    slot = np.empty(stats.entries, np.int64)
    previous = np.empty(stats.entries, np.int64)
    previous_server = np.empty(stats.entries, np.int64)
    cleanup = np.empty(stats.entries, np.int64)
    restarted = np.zeros(stats.entries, np.bool_)
    unknown: list[tuple[int, str, bytes]] = []
    for number in np.flatnonzero(np.bincount(stats.target)).tolist():
        name = stats.targets[number]
        target = memory.target(snapshot.server, name)
        rows = np.flatnonzero(stats.target == number)
        ids = list(map(stats.ids.__getitem__, stats.entry_id[rows].tolist()))
        held = np.fromiter(map(target.slots.get, ids, repeat(-1)), np.int64, len(ids))
        slot[rows] = held
        unknown += [(int(rows[i]), name, ids[i]) for i in np.flatnonzero(held < 0).tolist()]
        here, elsewhere = target.before(time), memory.elsewhere(snapshot.server, name, time)
        previous[rows] = max(here, elsewhere)
        restarted[rows] = name in snapshot.restarted or elsewhere > here
        seconds = snapshot.cleanup_s.get(name, CLEANUP_INTERVAL_S)
        cleanup[rows] = seconds * 10**9 if seconds else _NEVER_REMOVED
        previous_server[rows] = target.server_ns
    new = slot < 0
    _admit(unknown, slot, snapshot, memory, new_series)
    counted = _last_of_each(slot) & (memory.seen_us[slot] < time)
    started = time - (server_clock(snapshot) - stats.start_ns) // 1000
    started[stats.start_ns == UNKNOWN_TIME] = NEVER
    return Entries(slot, new, previous, previous_server, cleanup, restarted, counted, started)


def server_clock(snapshot: Snapshot) -> NDArray[np.int64]:
    """Return what the server's clock showed, for each entry: it may be off, or count from boot."""
    stats, told = snapshot.stats, snapshot.server_ns
    clock = np.empty(stats.entries, np.int64)
    for boot in (False, True):
        rows = stats.since_boot == boot
        latest = int(stats.snapshot_ns[rows].max(initial=0))
        known = told if told is not None and is_since_boot(told) == boot else None
        clock[rows] = max(
            latest, (0 if boot else snapshot.time_us * 1000) if known is None else known
        )
    return clock


def _admit(
    unknown: list[tuple[int, str, bytes]],
    slot: Slots,
    snapshot: Snapshot,
    memory: Memory,
    new_series: NewSeries,
) -> None:
    """Give new ids their slots; an id may stand twice in one read."""
    if not unknown:
        return
    stats = snapshot.stats
    weight = np.bincount(stats.entry, weights=stats.samples, minlength=stats.entries).tolist()
    weights = {(target, raw): int(weight[entry]) for entry, target, raw in unknown}
    distinct = list(weights)
    fresh = memory.allocate(len(distinct))
    _number(distinct, weights, fresh, memory, new_series)
    memory.ost[fresh] = ["-OST" in target for target, _ in distinct]
    memory.seen_us[fresh] = NEVER
    memory.start_ns[fresh] = UNKNOWN_TIME
    slots = {name: memory.target(snapshot.server, name).slots for name in stats.targets}
    for (target, raw), number in zip(distinct, fresh.tolist(), strict=True):
        slots[target][raw] = number
    for entry, target, raw in unknown:
        slot[entry] = slots[target][raw]


def _number(
    keys: list[tuple[str, bytes]],
    weights: dict[tuple[str, bytes], int],
    fresh: Slots,
    memory: Memory,
    new_series: NewSeries,
) -> None:
    """Number the series of fresh slots; one that another server has shown keeps its number."""
    held = np.array([memory.slot_elsewhere(*key) for key in keys], np.int64)
    known = held >= 0
    memory.series[fresh[known]] = memory.series[held[known]]
    memory.quality[fresh[known]] = memory.quality[held[known]]
    new = [key for key, is_known in zip(keys, known.tolist(), strict=True) if not is_known]
    numbers, quality = new_series(new, [weights[key] for key in new])
    memory.series[fresh[~known]], memory.quality[fresh[~known]] = numbers, quality


def _last_of_each(slot: Slots) -> NDArray[np.bool_]:
    """Mark the last entry of each id: Lustre may repeat one while others expire."""
    last = np.zeros(len(slot), np.bool_)
    _, from_behind = np.unique(slot[::-1], return_index=True)
    last[len(slot) - 1 - from_behind] = True
    return last
