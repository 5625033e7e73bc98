"""What a job_stats text holds, as columns: one array for each field, never an object for an entry.

Strings are kept once in a dictionary and rows refer to them by number. Every array of one group
(entries, counters, histogram bins) has the same length.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfscope.lustre.defects import Defects

UNKNOWN_TIME = -1


@dataclass(frozen=True, slots=True)
class JobStats:
    """Entries in the order of the text, and their counters with samples above zero."""

    targets: Sequence[str]
    ids: Sequence[bytes]
    """Raw entry ids, whatever the release's spelling."""
    operations: Sequence[str]
    units: Sequence[str]

    target: NDArray[np.int32]
    entry_id: NDArray[np.int32]
    snapshot_ns: NDArray[np.int64]
    """Nanoseconds since 1970, or since boot where `since_boot`; UNKNOWN_TIME: not in the text."""
    start_ns: NDArray[np.int64]
    since_boot: NDArray[np.bool_]
    entry_offset: NDArray[np.int64]

    entry: NDArray[np.int32]
    operation: NDArray[np.int32]
    unit: NDArray[np.int32]
    samples: NDArray[np.uint64]
    minimum: NDArray[np.uint64]
    maximum: NDArray[np.uint64]
    total: NDArray[np.uint64]
    sumsq: NDArray[np.uint64]
    measured: NDArray[np.bool_]
    """The text has min, max and sum for this counter; else they are zero here."""
    squared: NDArray[np.bool_]
    """The text has sumsq (modulo 2^64) for this counter."""

    hist_counter: NDArray[np.int32]
    hist_bound: NDArray[np.uint64]
    """The label of the bin: it counts values in (bound / 2, bound]; the last bin is open."""
    hist_count: NDArray[np.uint64]

    defects: Defects

    @property
    def entries(self) -> int:
        """How many entries there are."""
        return len(self.entry_id)

    @property
    def counters(self) -> int:
        """How many counters with samples there are."""
        return len(self.samples)

    def arrays(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield every array with its name."""
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, np.ndarray):
                yield each.name, value


def concatenate(batches: Sequence[JobStats]) -> JobStats:
    """Join batches (at least one) that share their dictionaries."""
    if len(batches) == 1:
        return batches[0]
    entries = np.cumsum([0, *(b.entries for b in batches)], dtype=np.int32)
    counters = np.cumsum([0, *(b.counters for b in batches)], dtype=np.int32)
    base = {"entry": entries, "hist_counter": counters}
    columns = {
        name: np.concatenate(
            [
                getattr(b, name) + base[name][i] if name in base else getattr(b, name)
                for i, b in enumerate(batches)
            ]
        )
        for name, _ in batches[0].arrays()
    }
    defects = Defects()
    for batch in batches:
        defects.extend(batch.defects)
    last = batches[-1]
    return JobStats(last.targets, last.ids, last.operations, last.units, **columns, defects=defects)
