"""What each OST had to do with a run: its share of the critical time, and how slow it was.

A file's time and bytes are shared equally by its OSTs. An OST is as slow as it took longer for a
byte than the median of the others; of one that stands alone nothing can be said.
"""

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pfscope.mine.factors import over, summed
from pfscope.mine.sweep import Indices, Seconds

_AT_ONCE: Final = 1 << 16
_FEWEST: Final = 3
"""As many others it takes to say that one is slow."""


class OstUse(NamedTuple):
    """The OSTs of a run's files, in order."""

    ost: Indices
    time_share: Seconds
    """Of the critical time; what is missing to 1 was spent in files of no known OST."""
    bytes: Seconds
    bytes_share: Seconds
    slowness: Seconds
    """Seconds per byte, in those of the median of all other OSTs; NaN: cannot be told."""


def ost_use(osts: pa.ChunkedArray, exclusive: Seconds, in_use_s: Seconds, moved: Seconds) -> OstUse:
    """Return the use of OSTs, given their bitmaps and the numbers of each file."""
    sums = _shared(osts, np.stack([exclusive, in_use_s, moved, np.ones(len(moved))], axis=1))
    used = np.flatnonzero(sums[:, 3] > 0)
    critical, busy, size = (sums[used, i] for i in range(3))
    return OstUse(
        used,
        critical / (exclusive.sum() or 1.0),
        size,
        size / (moved.sum() or 1.0),
        _slowness(over(busy, size)),
    )


def _shared(osts: pa.ChunkedArray, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share out the numbers of each file among its OSTs, and add them up: a row for each OST."""
    sums: NDArray[np.float64] = np.zeros((0, numbers.shape[1]))
    for begin in range(0, len(osts), _AT_ONCE):
        row, ost = _listed(osts.slice(begin, _AT_ONCE).to_pylist())
        each = numbers[begin + row] / np.bincount(row)[row, None]
        width = max(int(ost.max(initial=-1)) + 1, len(sums))
        parts = [summed(ost, column, width) for column in each.T]
        sums = np.stack(parts, axis=1) + np.pad(sums, ((0, width - len(sums)), (0, 0)))
    return sums


def _listed(osts: list[bytes | None]) -> tuple[Indices, Indices]:
    """Return pairs of a file, by its row, and an OST that it has a part on."""
    sets = [one or b"" for one in osts]
    lengths = np.array([len(one) for one in sets], np.int64)
    data = np.frombuffer(b"".join(sets), np.uint8)
    place = np.flatnonzero(data)
    row = np.repeat(np.arange(len(sets)), lengths)[place]
    within = place - (np.cumsum(lengths) - lengths)[row]
    which, bit = np.nonzero(np.unpackbits(data[place, None], axis=1, bitorder="little"))
    return row[which], within[which] * 8 + bit


def _slowness(per_byte: Seconds) -> Seconds:
    """Compare each with the median of the others."""
    known = np.flatnonzero(np.isfinite(per_byte) & (per_byte > 0))
    found = np.full(len(per_byte), np.nan)
    if len(known) <= _FEWEST:
        return found
    ordered = np.sort(per_byte[known])
    place = np.searchsorted(ordered, per_byte[known])
    # Without one value, those behind it move up.
    middle, odd = divmod(len(known) - 1, 2)
    high = ordered[middle + (place <= middle)]
    low = ordered[middle - 1 + (place <= middle - 1)]
    found[known] = per_byte[known] / np.where(odd, high, (low + high) / 2)
    return found
