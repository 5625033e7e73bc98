"""Counters to usage: each snapshot against what is remembered; equation C3, knowing better.

An entry's counters restart together, so one reset is judged for all of them:
- a start_time that changed is a reset, even when the values grew;
- a value that fell, or an operation that vanished, is a reset; so is a restart of the target;
- an entry that returns was removed only if Lustre could have removed it by the observation that
  missed it, and its start_time does not say otherwise;
- a new entry counts from zero since the observation before; in the first observation of a target
  it is a baseline, unless it began in an interval that we know.
An increment covers the time since its series was last seen: a missed observation makes one longer
interval. What was observed after the time of a late snapshot is already counted, and stays.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pfscope.ingest.entries import Entries, NewSeries, Snapshot, find_entries
from pfscope.ingest.memory import NEVER, Memory, Slots
from pfscope.lustre.columns import UNKNOWN_TIME, JobStats

_MOST: Final = np.uint64(2**63 - 1)
"""What a store's integer holds; Lustre's own counters could be larger only by damage."""

Microseconds = NDArray[np.int64]
Counters = NDArray[np.uint64]
"""[counters, one column for each of `Memory.COUNTERS`]."""
_SAMPLES, _TOTAL, _SUMSQ, _MINIMUM, _MAXIMUM = range(len(Memory.COUNTERS))


@dataclass(frozen=True, slots=True)
class Bins:
    """Requests by size: one row for each bin that grew."""

    series: NDArray[np.int64]
    operation: NDArray[np.int64]
    bound: NDArray[np.int64]
    count: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Usage:
    """Increments as columns: one row for each series and operation that changed."""

    begin_us: Microseconds
    end_us: Microseconds
    series: NDArray[np.int64]
    ost: NDArray[np.bool_]
    """The series is of an OST, else of an MDT."""
    operation: NDArray[np.int64]
    """The row of `Memory.operations`."""
    samples: NDArray[np.int64]
    total: NDArray[np.int64]
    sumsq: NDArray[np.float64]
    minimum: NDArray[np.int64]
    """Of the interval, where it can be told from the lifetime's; else -1."""
    maximum: NDArray[np.int64]
    restarted: NDArray[np.bool_]
    """The counter was at zero when the interval began: the raw counter is a sum from here on."""
    baseline: NDArray[np.bool_]
    """Not usage: what the counter held when it was first seen."""
    bins: Bins
    entry_slot: Slots
    """The slot of each entry of the snapshot."""
    counted: NDArray[np.bool_]
    """False for entries that are repeated in the read, or were counted by a later one."""

    def __len__(self) -> int:
        return len(self.series)


def difference(snapshot: Snapshot, memory: Memory, new_series: NewSeries) -> Usage:
    """Return the usage since what is remembered, and remember the snapshot."""
    stats = snapshot.stats
    entries = find_entries(snapshot, memory, new_series)
    _end_all_but(snapshot, entries, memory)
    kept = slice(None) if entries.counted.all() else entries.counted[stats.entry]
    entry = stats.entry[kept]
    all_rows = _memory_rows(stats, memory)
    row, slot = all_rows[kept], entries.slot[entry]
    current = np.stack([getattr(stats, name)[kept] for name in Memory.COUNTERS], axis=1)
    cells = memory.counters.claim(slot, row)
    before = memory.counters.values.take(cells, axis=0)
    reset = _resets(snapshot, entries, memory, entry, current, before)
    baseline = _baselines(snapshot, entries, memory)
    fresh = reset | entries.new
    before[fresh[entry]] = 0
    begin = np.where(fresh, entries.previous_us, memory.seen_us[entries.slot])
    begin[fresh & (begin == NEVER)] = snapshot.known_since_us or snapshot.time_us
    begin[baseline] = snapshot.time_us
    memory.clear(entries.slot[reset])
    memory.counters.values[cells] = current
    _remember(snapshot, entries, memory, entry)
    bins = _bins(stats, entries, memory, all_rows, baseline)
    moved = current != before
    changed = np.flatnonzero(moved[:, _SAMPLES] | moved[:, _TOTAL])
    current, before, entry, slot = current[changed], before[changed], entry[changed], slot[changed]
    return Usage(
        begin[entry],
        np.full(len(changed), snapshot.time_us),
        memory.series[slot],
        memory.ost[slot],
        row[changed],
        _increment(current, before, _SAMPLES),
        _increment(current, before, _TOTAL),
        (current[:, _SUMSQ] - before[:, _SUMSQ]).astype(np.float64),
        _extreme(current, before, _MINIMUM, fresh[entry]),
        _extreme(current, before, _MAXIMUM, fresh[entry]),
        fresh[entry],
        baseline[entry],
        bins,
        entries.slot,
        entries.counted,
    )


def _bins(
    stats: JobStats,
    entries: Entries,
    memory: Memory,
    row: NDArray[np.int64],
    baseline: NDArray[np.bool_],
) -> Bins:
    """Return how requests of the interval were spread over sizes."""
    entry = stats.entry[stats.hist_counter]
    of_bin, slot = row[stats.hist_counter], entries.slot[entry]
    grown, count = memory.histograms.advance(stats, of_bin, slot, entries.counted[entry])
    usage = ~baseline[entry[grown]]
    grown, count = grown[usage], count[usage]
    bound = stats.hist_bound[grown].astype(np.int64)
    return Bins(memory.series[slot[grown]], of_bin[grown], bound, count)


def _end_all_but(snapshot: Snapshot, entries: Entries, memory: Memory) -> None:
    """Take note that the other entries of targets that restarted are gone."""
    stats = snapshot.stats
    restarted = {stats.targets[n] for n in np.unique(stats.target[entries.restarted]).tolist()}
    for name in restarted | snapshot.restarted:
        slots = np.fromiter(memory.target(snapshot.server, name).slots.values(), np.int64)
        gone = slots[~np.isin(slots, entries.slot)]
        memory.clear(gone)
        memory.updated_ns[gone] = NEVER


def _increment(current: Counters, before: Counters, column: int) -> NDArray[np.int64]:
    increment: NDArray[np.uint64] = current[:, column] - before[:, column]
    return np.asarray(np.minimum(increment, _MOST).astype(np.int64))


def _extreme(
    current: Counters, before: Counters, column: int, fresh: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """The lifetime's extreme is the interval's where it moved, or where both begin together."""
    told = fresh | (current[:, column] != before[:, column])
    return np.where(told, np.minimum(current[:, column], _MOST).astype(np.int64), -1)


def _memory_rows(stats: JobStats, memory: Memory) -> NDArray[np.int64]:
    """Return the memory row of each counter."""
    units, many = stats.units, len(stats.units)
    pair = stats.operation.astype(np.int64) * many + stats.unit
    used = np.flatnonzero(np.bincount(pair))
    names = [(stats.operations[p // many], units[p % many]) for p in used.tolist()]
    row_of_pair = np.empty(len(stats.operations) * many, np.int64)
    row_of_pair[used] = memory.rows_of(names)
    return np.asarray(row_of_pair[pair])


def _resets(
    snapshot: Snapshot,
    entries: Entries,
    memory: Memory,
    entry: NDArray[np.int32],
    current: Counters,
    before: Counters,
) -> NDArray[np.bool_]:
    """Tell which of the known entries restarted since they were last seen."""
    stats, slot, count = snapshot.stats, entries.slot, snapshot.stats.entries
    fell = (current[:, _SAMPLES] < before[:, _SAMPLES]) | (current[:, _TOTAL] < before[:, _TOTAL])
    fallen = np.bincount(entry[fell], minlength=count) > 0
    still_there = np.bincount(entry[before[:, _SAMPLES] > 0], minlength=count)
    vanished = still_there < memory.nonzero[slot]
    both_started = (stats.start_ns != UNKNOWN_TIME) & (memory.start_ns[slot] != UNKNOWN_TIME)
    started_anew = both_started & (stats.start_ns != memory.start_ns[slot])
    missed = (memory.seen_us[slot] < entries.previous_us) & ~both_started
    untouched = stats.snapshot_ns == memory.updated_ns[slot]
    removable = memory.updated_ns[slot] + entries.cleanup_ns <= entries.previous_server_ns
    returned = missed & removable & ~untouched
    restarted = entries.restarted & ~both_started
    judged = ~entries.new & entries.counted
    return np.asarray((fallen | vanished | started_anew | returned | restarted) & judged)


def _baselines(snapshot: Snapshot, entries: Entries, memory: Memory) -> NDArray[np.bool_]:
    """Tell which new entries began before we looked, so that their past is not known."""
    stats, started = snapshot.stats, entries.started_us
    since = NEVER if snapshot.known_since_us is None else snapshot.known_since_us
    in_known_interval = (started > since) & (since > NEVER)
    firsts = [memory.target(snapshot.server, name).known_from_us for name in stats.targets]
    first = np.array(firsts, np.int64)[stats.target]
    before_first = (started > NEVER) & (first > NEVER) & (started <= first)
    unobserved = entries.previous_us == NEVER
    past = np.where(unobserved, ~in_known_interval, before_first)
    return np.asarray(entries.new & past)


def _remember(
    snapshot: Snapshot,
    entries: Entries,
    memory: Memory,
    entry: NDArray[np.int32],
) -> None:
    stats = snapshot.stats
    seen = entries.slot[entries.counted]
    counters = np.bincount(entry, minlength=stats.entries)
    memory.nonzero[seen] = counters[entries.counted]
    memory.seen_us[seen] = snapshot.time_us
    memory.updated_ns[seen] = stats.snapshot_ns[entries.counted]
    memory.start_ns[seen] = stats.start_ns[entries.counted]
    clocks = np.full(len(stats.targets), NEVER)
    clocks[stats.target] = entries.clock_ns
    for name, server_ns in zip(stats.targets, clocks.tolist(), strict=True):
        if server_ns != NEVER:
            target = memory.target(snapshot.server, name)
            target.observe(snapshot.time_us, server_ns, snapshot.absent_us(memory, name))
