"""Request sizes of every living series: the last count in each bin, and what was added since.

Lustre's bins end at powers of two, so a bin is the logarithm of its bound. Counts are kept modulo
2^32, which the difference of two does not notice. Few operations have bins.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pfscope.ingest.cells import Cells, Numbers
from pfscope.lustre.columns import JobStats

BINS: Final = 40
"""Bounds up to 2^39 bytes; Lustre's last bin is far below."""


class Histograms(Cells):
    """The bins of all series: a cell for each operation of a series that has them."""

    def __init__(self) -> None:
        super().__init__(BINS, np.uint32)

    def advance(
        self, stats: JobStats, row: Numbers, slot: Numbers, counted: NDArray[np.bool_]
    ) -> tuple[Numbers, Numbers]:
        """Take the bins of a snapshot; return which of them grew, and by how much.

        `row`, `slot` and `counted` are of the counter that each bin belongs to. Series that began
        anew must have been cleared before.
        """
        size = np.bitwise_count(stats.hist_bound - np.uint64(1)).astype(np.int64)
        known = counted & (np.bitwise_count(stats.hist_bound) == 1) & (size < BINS)
        bins = np.flatnonzero(known)
        if not len(bins):
            return bins, bins
        at = self.claim(slot[bins], row[bins]) * BINS + size[bins]
        now = stats.hist_count[bins].astype(np.uint32)
        increment = (now - self.values.take(at)).astype(np.int64)
        self.values.reshape(-1)[at] = now
        return bins[increment > 0], increment[increment > 0]
