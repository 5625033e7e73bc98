"""The entries of a snapshot: the memory of each, and what is known of it before it is judged.

Counters live in the server that shows them, so a target that moved is remembered for each of its
servers apart; its series are the same.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pfscope.ingest.memory import NEVER, Memory, Slots, TargetMemory
from pfscope.lustre.clock import is_since_boot
from pfscope.lustre.columns import UNKNOWN_TIME, JobStats

CLEANUP_INTERVAL_S: Final = 600
"""Lustre's default `job_cleanup_interval`."""
_NEVER_REMOVED: Final = 2**62

Microseconds = NDArray[np.int64]
NewSeries = Callable[
    [str, Sequence[bytes], NDArray[np.float64]], tuple[NDArray[np.int64], NDArray[np.int8]]
]
"""Gives each new id of a target, of so many samples each, its series' number and quality."""


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

    def cleanup_ns(self, target: str) -> int:
        """Return how long an idle entry of a target is kept."""
        seconds = self.cleanup_s.get(target, CLEANUP_INTERVAL_S)
        return seconds * 10**9 if seconds else _NEVER_REMOVED

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
    clock_ns: NDArray[np.int64]
    """What the server's own clock showed: it may be off, or count from boot."""


def find_entries(snapshot: Snapshot, memory: Memory, new_series: NewSeries) -> Entries:
    """Find the slot of every entry, a fresh one for every new entry."""
    stats, time, server = snapshot.stats, snapshot.time_us, snapshot.server
    targets = [memory.target(server, name) for name in stats.targets]
    here = np.array([target.before(time) for target in targets], np.int64)
    there = np.array([memory.elsewhere(server, name, time) for name in stats.targets], np.int64)
    said = np.array([name in snapshot.restarted for name in stats.targets], np.bool_)
    server_ns = np.array([target.server_ns for target in targets], np.int64)
    cleanup = np.array([snapshot.cleanup_ns(name) for name in stats.targets], np.int64)
    slot = _held(stats, targets)
    new = slot < 0
    if new.any():
        _admit(np.flatnonzero(new), slot, snapshot, memory, new_series)
    counted = _last_of_each(slot, memory) & (memory.seen_us[slot] < time)
    clock_ns = _server_clock(snapshot)
    started = time - (clock_ns - stats.start_ns) // 1000
    started[stats.start_ns == UNKNOWN_TIME] = NEVER
    return Entries(
        slot,
        new,
        np.maximum(here, there)[stats.target],
        server_ns[stats.target],
        cleanup[stats.target],
        (said | (there > here))[stats.target],
        counted,
        started,
        clock_ns,
    )


def _held(stats: JobStats, targets: Sequence[TargetMemory]) -> Slots:
    """Return the slot of each entry, -1 where it has none."""
    slot = np.empty(stats.entries, np.int64)
    for rows, number in _by_target(stats, np.arange(stats.entries)):
        slot[rows] = targets[number].find(stats.ids, stats.entry_id[rows])
    return slot


def _by_target(stats: JobStats, rows: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], int]]:
    """Yield those of the given entries that are of one target, and its number."""
    target = stats.target[rows]
    for number in np.flatnonzero(np.bincount(target)).tolist():
        yield rows[target == number], number


def _server_clock(snapshot: Snapshot) -> NDArray[np.int64]:
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
    unknown: NDArray[np.int64],
    slot: Slots,
    snapshot: Snapshot,
    memory: Memory,
    new_series: NewSeries,
) -> None:
    """Give new entries their slots; an id may stand twice in one read."""
    stats = snapshot.stats
    weight = np.bincount(stats.entry, weights=stats.samples, minlength=stats.entries)
    for rows, number in _by_target(stats, unknown):
        name = stats.targets[number]
        ids = list(map(stats.ids.__getitem__, stats.entry_id[rows].tolist()))
        weights = dict(zip(ids, weight[rows].tolist(), strict=True))
        fresh = memory.allocate(len(weights))
        _number(snapshot.server, name, weights, fresh, memory, new_series)
        slots = memory.target(snapshot.server, name).slots
        slots.update(zip(weights, fresh.tolist(), strict=True))
        slot[rows] = list(map(slots.__getitem__, ids))


def _number(
    server: str,
    name: str,
    weights: Mapping[bytes, float],
    fresh: Slots,
    memory: Memory,
    new_series: NewSeries,
) -> None:
    """Number the series of fresh slots; one that another server has shown keeps its number."""
    ids = list(weights)
    held = memory.slots_elsewhere(server, name, ids)
    memory.series[fresh], memory.quality[fresh] = memory.series[held], memory.quality[held]
    new = np.flatnonzero(held < 0)
    if len(new):
        new_ids = list(compress(ids, (held < 0).tolist()))
        new_weights = np.fromiter(weights.values(), np.float64, len(ids))[new]
        numbers, quality = new_series(name, new_ids, new_weights)
        memory.series[fresh[new]], memory.quality[fresh[new]] = numbers, quality
    memory.ost[fresh] = "-OST" in name
    memory.seen_us[fresh] = NEVER
    memory.start_ns[fresh] = UNKNOWN_TIME


def _last_of_each(slot: Slots, memory: Memory) -> NDArray[np.bool_]:
    """Mark the last entry of each id: Lustre may repeat one while others expire."""
    places = np.arange(len(slot), dtype=np.int32)
    memory.place[slot] = places  # of places with the same slot, the last one stays
    return np.asarray(memory.place[slot] == places)
