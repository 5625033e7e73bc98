"""Request sizes of every living series: the last count in each bin, and what was added since.

Lustre's bins end at powers of two, so a bin is the logarithm of its bound. Counts are kept modulo
2^32, which the difference of two does not notice. Nothing is allocated before a text has bins.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pfscope.lustre.columns import JobStats

BINS: Final = 40
"""Bounds up to 2^39 bytes; Lustre's last bin is far below."""


class Histograms:
    """The bins of all series, one plane for each operation that has them."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        """The operation of each plane, as a row of `Memory`."""
        self.counts: NDArray[np.uint32] = np.zeros((0, BINS, 0), np.uint32)
        """[planes, bins, slots]."""

    def clear(self, slots: NDArray[np.int64]) -> None:
        """Set all bins of some series to zero."""
        if len(self.rows):
            self.counts[:, :, slots] = 0

    def advance(
        self,
        stats: JobStats,
        row: NDArray[np.int64],
        slot: NDArray[np.int64],
        counted: NDArray[np.bool_],
        capacity: int,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Take the bins of a snapshot; return which of them grew, and by how much.

        `row`, `slot` and `counted` are of the counter that each bin belongs to. Series that began
        anew must have been cleared before.
        """
        size = np.bitwise_count(stats.hist_bound - np.uint64(1)).astype(np.int64)
        known = counted & (np.bitwise_count(stats.hist_bound) == 1) & (size < BINS)
        bins = np.flatnonzero(known)
        if not len(bins):
            return bins, bins
        self._make_room(np.unique(row[bins]).tolist(), capacity)
        plane_of = np.zeros(max(self.rows) + 1, np.int64)
        plane_of[self.rows] = np.arange(len(self.rows))
        at = plane_of[row[bins]], size[bins], slot[bins]
        now = stats.hist_count[bins].astype(np.uint32)
        grown = (now - self.counts[at]).astype(np.int64)
        self.counts[at] = now
        return bins[grown > 0], grown[grown > 0]

    def _make_room(self, rows: list[int], capacity: int) -> None:
        self.rows += [row for row in rows if row not in self.rows]
        shape = len(self.rows), BINS, capacity
        if self.counts.shape != shape:
            grown = np.zeros(shape, np.uint32)
            planes, _, slots = self.counts.shape
            grown[:planes, :, :slots] = self.counts
            self.counts = grown
