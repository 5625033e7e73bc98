"""What a reader who keeps the last counters of every entry would find out from snapshots."""

from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from pfscope.lab.archetypes import OPERATIONS
from pfscope.lab.cluster import Cluster, Observation
from pfscope.lab.dialects import BYTES_OPERATIONS
from pfscope.lab.tables import ServerSnapshot, TargetTable

Key = tuple[str, bytes, str]
"""Target, entry id, operation."""


def counters(table: TargetTable, operations: tuple[str, ...]) -> NDArray[np.uint64]:
    """Return requests, and bytes for read_bytes and write_bytes."""
    values = table.samples.copy()
    for name in BYTES_OPERATIONS:
        if name in operations:
            values[:, operations.index(name)] = table.total[:, operations.index(name)]
    return values


class Reader:
    """Differences consecutive snapshots; a new start time means that counting began anew."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, bytes], tuple[int, NDArray[np.uint64]]] = {}

    def read(self, snapshots: Iterable[ServerSnapshot]) -> Counter[Key]:
        """Return the increments since the last call."""
        found: Counter[Key] = Counter()
        for snapshot in snapshots:
            operations = snapshot.dialect.operations(snapshot.kind)
            shift = snapshot.boot_ns if snapshot.dialect.times == "boot" else 0
            for table in snapshot.tables:
                starts = (table.start_ns - shift).tolist()
                rows = zip(table.ids, starts, counters(table, operations), strict=True)
                for raw, start, now in rows:
                    self._entry(found, table.target, raw, start, now, operations)
        return found

    def _entry(
        self, found: Counter[Key], target: str, raw: bytes, start: int, now: NDArray[np.uint64],
        operations: tuple[str, ...],
    ) -> None:  # fmt: skip
        before = self._last.get((target, raw))
        again = before is not None and before[0] == start
        increment = now - before[1] if before is not None and again else now
        assert (increment <= now).all(), "a counter fell though its entry is the same"
        self._last[target, raw] = (start, now)
        for column in np.flatnonzero(increment).tolist():
            found[target, raw, operations[column]] += int(increment[column])


def truth(cluster: Cluster, observation: Observation) -> Counter[Key]:
    """Return the true increments in the same form."""
    found: Counter[Key] = Counter()
    raw = cluster.world.staging.ids.raw
    for kind, usage in observation.usage.items():
        names, operations = cluster.site.targets(kind), OPERATIONS[kind]
        rows = zip(
            usage.target.tolist(), usage.entry_id.tolist(), usage.operation.tolist(),
            usage.increment.tolist(), strict=True,
        )  # fmt: skip
        for target, entry_id, operation, increment in rows:
            found[names[target], raw[entry_id], operations[operation]] += increment
    return found
