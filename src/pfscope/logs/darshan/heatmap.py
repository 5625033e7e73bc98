"""Bytes by rank and time, from HEATMAP records: one for each module and rank.

A record is id, rank, width of a bin in seconds, number of bins, two words of nothing; then bytes
written by bin, and bytes read. The id's name is `heatmap:POSIX` and the like.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pfscope.logs.darshan.errors import DarshanError
from pfscope.logs.darshan.header import Order
from pfscope.logs.darshan.walk import as_words, runs

_HEAD: Final = 6
_MOST_BINS: Final = 1 << 20


class Heatmap(NamedTuple):
    """Bins in which there was anything, a row for each."""

    ids: NDArray[np.int64]
    ranks: NDArray[np.int64]
    bins: NDArray[np.int64]
    width_s: NDArray[np.float64]
    bytes_read: NDArray[np.int64]
    bytes_written: NDArray[np.int64]

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.ids)


def read_heatmap(data: bytes, version: int, order: Order) -> Heatmap:
    """Read all records; DarshanError: they make no sense."""
    if version != 1:
        raise DarshanError(f"version {version} of HEATMAP records is not known")
    words = as_words(data, order, "HEATMAP")
    parts = [_rows(rows) for rows in runs(words, _HEAD, (3,), _length, "HEATMAP")]
    if not parts:
        empty = np.empty(0, np.int64)
        return Heatmap(empty, empty, empty, empty.view(np.float64), empty, empty)
    return Heatmap(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _length(sizes: tuple[int, ...]) -> int | None:
    (bins,) = sizes
    return _HEAD + 2 * bins if 0 <= bins <= _MOST_BINS else None


def _rows(rows: NDArray[np.int64]) -> Heatmap:
    bins = int(rows[0, 3])
    width_s = np.ascontiguousarray(rows[:, 2]).view(np.float64)
    if not (width_s > 0).all() or not np.isfinite(width_s).all():
        raise DarshanError("HEATMAP has a width of bins that makes no sense")
    written, read = rows[:, _HEAD : _HEAD + bins], rows[:, _HEAD + bins :]
    if bins and (written.min() < 0 or read.min() < 0):
        raise DarshanError("HEATMAP has counts below zero")
    record, at = np.nonzero((written != 0) | (read != 0))
    return Heatmap(
        rows[record, 0],
        rows[record, 1],
        at.astype(np.int64),
        width_s[record],
        read[record, at],
        written[record, at],
    )
