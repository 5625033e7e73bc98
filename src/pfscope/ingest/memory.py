"""What is remembered of every living series: its last counters, and when they were seen.

A series has a slot, a place in arrays that grow by large steps, and a cell of counters for each of
its operations. Slots of series that are gone for good are used again. Nothing here decides:
`difference` does.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from pfscope.ingest.cells import GROWTH, Cells, grown
from pfscope.ingest.histograms import Histograms

NEVER = -(2**62)
Slots = NDArray[np.int64]
_FIRST_CAPACITY = 1024
KEPT_OBSERVATIONS = 1024
_SPARSE = 16
"""Where a dictionary has so many times the ids of a target, what is found is not kept."""


@dataclass(slots=True)
class TargetMemory:
    """What is remembered of a target on one of its servers."""

    slots: dict[bytes, int] = field(default_factory=dict)
    """The slot of each raw id."""
    observed_us: list[int] = field(default_factory=list)
    """The latest times at which the target was observed, ascending."""
    known_from_us: int = NEVER
    """Entries that began later began under our eyes."""
    server_ns: int = NEVER
    """The server's own clock at the latest observation."""
    _ids: Sequence[bytes] = ()
    _found: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    """What was found of each of `_ids`, -1 where nothing was."""

    def find(self, ids: Sequence[bytes], numbers: NDArray[np.int32]) -> Slots:
        """Return the slots of some ids of a dictionary, given their numbers, or -1.

        What is found is found at once in further snapshots that have the same dictionary.
        """
        if len(ids) > _SPARSE * max(len(self.slots), _FIRST_CAPACITY):
            return self._look_up(ids, numbers)
        if ids is not self._ids or len(ids) > len(self._found):
            known = self._found if ids is self._ids else self._found[:0]
            self._ids, self._found = ids, np.full(2 * len(ids), -1, np.int32)
            self._found[: len(known)] = known
        slots = self._found[numbers].astype(np.int64)
        unknown = np.flatnonzero(slots < 0)
        slots[unknown] = self._found[numbers[unknown]] = self._look_up(ids, numbers[unknown])
        return slots

    def drop(self, ids: Iterable[bytes]) -> None:
        """Let go of some ids."""
        self._ids = ()
        for raw in ids:
            del self.slots[raw]

    def _look_up(self, ids: Sequence[bytes], numbers: NDArray[np.int32]) -> Slots:
        raw = map(ids.__getitem__, numbers.tolist())
        return np.fromiter(map(self.slots.get, raw, repeat(-1)), np.int64, len(numbers))

    def before(self, time_us: int) -> int:
        """Return the latest observation before a time, NEVER if there is none."""
        at = bisect_left(self.observed_us, time_us)
        return self.observed_us[at - 1] if at else NEVER

    def observe(self, time_us: int, server_ns: int, since_us: int = NEVER) -> None:
        """Remember an observation; also needed when it showed no entries.

        `since_us` is when we last saw that the target was not there.
        """
        if self.known_from_us == NEVER:
            self.known_from_us = time_us if since_us == NEVER else since_us
        if time_us not in self.observed_us[-2:]:
            insort(self.observed_us, time_us)
            del self.observed_us[:-KEPT_OBSERVATIONS]
        if time_us == self.observed_us[-1]:
            self.server_ns = server_ns


class Memory:
    """The counters of all living series of all targets."""

    TIMES = ("seen_us", "updated_ns", "start_ns")
    FACTS = ("series", "ost", "quality", "nonzero")
    COUNTERS = ("samples", "total", "sumsq", "minimum", "maximum")
    """What a cell of `counters` holds."""

    def __init__(self) -> None:
        self.targets: dict[tuple[str, str], TargetMemory] = {}
        """By server and target."""
        self._servers: dict[str, list[str]] = {}
        """The servers that have shown each target."""
        self.operations: list[tuple[str, str]] = []
        """(name, unit) of each row."""
        self._operation_rows: dict[tuple[str, str], int] = {}
        self._free: list[int] = []
        self._used = 0
        self.capacity = 0
        self.seen_us: NDArray[np.int64] = np.empty(0, np.int64)
        """When the series was last observed."""
        self.updated_ns: NDArray[np.int64] = np.empty(0, np.int64)
        """Its snapshot_time then: by the server's clock Lustre removes it a while after."""
        self.start_ns: NDArray[np.int64] = np.empty(0, np.int64)
        self.series: NDArray[np.int64] = np.empty(0, np.int64)
        self.ost: NDArray[np.bool_] = np.empty(0, np.bool_)
        """The series is of an OST."""
        self.quality: NDArray[np.int8] = np.empty(0, np.int8)
        """How sound its id is, and whether it is a system user's: see `ids`."""
        self.nonzero: NDArray[np.int32] = np.empty(0, np.int32)
        """How many of its counters are above zero."""
        self.place: NDArray[np.int32] = np.empty(0, np.int32)
        """Where an entry stands in the snapshot at hand; means nothing after it."""
        self.counters = Cells(len(self.COUNTERS), np.uint64)
        self.histograms = Histograms()

    def __len__(self) -> int:
        return self._used - len(self._free)

    def target(self, server: str, name: str) -> TargetMemory:
        """Return what is remembered of a target on a server."""
        if (server, name) not in self.targets:
            self.remember(server, name, TargetMemory())
        return self.targets[server, name]

    def remember(self, server: str, name: str, target: TargetMemory) -> None:
        """Begin to remember a target on a server."""
        self.targets[server, name] = target
        self._servers.setdefault(name, []).append(server)

    def elsewhere(self, server: str, name: str, time_us: int) -> int:
        """Return when another server showed a target, the latest before a time, or NEVER."""
        others = [other for other in self._servers.get(name, []) if other != server]
        times = (self.targets[other, name].before(time_us) for other in others)
        return max(times, default=NEVER)

    def held(self, name: str, series: int | None = None) -> int:
        """Return how many entries of a target are remembered; if given, those of one series."""
        remembered = [self.targets[server, name].slots for server in self._servers.get(name, [])]
        if series is None:
            return sum(map(len, remembered))
        slots = [np.fromiter(slots.values(), np.int64, len(slots)) for slots in remembered]
        return sum(int(np.count_nonzero(self.series[of_server] == series)) for of_server in slots)

    def slots_elsewhere(self, server: str, name: str, ids: Sequence[bytes]) -> Slots:
        """Return a slot that each id of a target has on another server, -1 if there is none."""
        found = np.full(len(ids), -1, np.int64)
        for other in self._servers[name]:
            if other != server:
                slots = self.targets[other, name].slots
                found = np.fromiter(map(slots.get, ids, found.tolist()), np.int64, len(ids))
        return found

    def rows_of(self, operations: Sequence[tuple[str, str]]) -> NDArray[np.int64]:
        """Return the row of each (operation, unit), new ones for new operations."""
        known = len(self.operations)
        for operation in operations:
            if operation not in self._operation_rows:
                self._operation_rows[operation] = len(self.operations)
                self.operations.append(operation)
        if len(self.operations) > known:
            self._reserve()
        return np.array([self._operation_rows[o] for o in operations], np.int64)

    def allocate(self, count: int) -> Slots:
        """Return fresh slots for new series."""
        kept = max(0, len(self._free) - count)
        reused = self._free[kept:]
        del self._free[kept:]
        first = self._used
        self._used += count - len(reused)
        if self._used > self.capacity:
            self._resize(max(self._used, GROWTH * self.capacity, _FIRST_CAPACITY))
        return np.concatenate([np.array(reused, np.int64), np.arange(first, self._used)])

    def forget(self, target: TargetMemory, before_us: int) -> int:
        """Free the slots of a target's series that were not seen since; return how many."""
        ids, slots = list(target.slots), np.fromiter(target.slots.values(), np.int64)
        gone = np.flatnonzero(self.seen_us[slots] < before_us)
        target.drop(ids[i] for i in gone.tolist())
        self._free.extend(slots[gone].tolist())
        self.counters.release(slots[gone])
        self.histograms.release(slots[gone])
        return len(gone)

    def clear(self, slots: Slots) -> None:
        """Set all counters of some series to zero."""
        if len(slots):
            self.nonzero[slots] = 0
            self.counters.clear(slots)
            self.histograms.clear(slots)

    def _resize(self, capacity: int) -> None:
        for name in (*self.TIMES, *self.FACTS):
            setattr(self, name, grown(getattr(self, name), (capacity,)))
        self.place = np.empty(capacity, np.int32)
        self.capacity = capacity
        self._reserve()

    def _reserve(self) -> None:
        self.counters.reserve(self.capacity, len(self.operations))
        self.histograms.reserve(self.capacity, len(self.operations))
