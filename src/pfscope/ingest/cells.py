"""Numbers of pairs of a series' slot and an operation, for those pairs alone that have been seen.

A series knows few of the many operations, so a table of small numbers tells where the pair's cell
is; cells grow by doubling and are used again. Cell 0 belongs to no pair and is always zero.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

Numbers = NDArray[np.int64]

_FIRST_CELLS: Final = 1024
_STEP: Final = 16
"""Operations come one by one; the table grows by so many at once."""


class Cells:
    """One cell of `width` numbers for each pair that was claimed."""

    def __init__(self, width: int, dtype: DTypeLike) -> None:
        self.values: NDArray[Any] = np.zeros((_FIRST_CELLS, width), dtype)
        """[cells, width]."""
        self._cells: NDArray[np.int32] = np.zeros((0, _STEP), np.int32)
        """[slots, operations]: the cell of each pair, 0 where it has none."""
        self._free: Numbers = np.empty(0, np.int64)
        self._used = 1

    def reserve(self, slots: int, operations: int) -> None:
        """Make room for so many slots and operations."""
        wanted = slots, max(1, -(-operations // _STEP)) * _STEP
        if wanted != self._cells.shape:
            self._cells = grown(self._cells, wanted)

    def claim(self, slot: Numbers, operation: Numbers) -> Numbers:
        """Return the cell of each pair, a fresh one of zeros where it has none."""
        flat = self._flat(slot, operation)
        cells = self._cells.take(flat)
        missing = cells == 0
        if missing.any():
            pairs = np.unique(flat[missing])  # a damaged text can tell an operation twice
            self._cells.reshape(-1)[pairs] = self._fresh(len(pairs))
            cells = self._cells.take(flat)
        return cells.astype(np.int64)

    def clear(self, slots: Numbers) -> None:
        """Set the cells of some slots to zero."""
        self.values[self._cells[slots]] = 0

    def release(self, slots: Numbers) -> None:
        """Take all cells from some slots."""
        self.clear(slots)
        held = self._cells[slots]
        self._free = np.concatenate([self._free, held[held > 0]])
        self._cells[slots] = 0

    def pairs(self, slots: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Return the pairs of some slots: place of the slot in `slots`, operation, cell."""
        held = self._cells[slots]
        place, operation = np.nonzero(held)
        return place, operation, held[place, operation].astype(np.int64)

    def _flat(self, slot: Numbers, operation: Numbers) -> Numbers:
        return np.asarray(slot * self._cells.shape[1] + operation)

    def _fresh(self, count: int) -> Numbers:
        reused, self._free = self._free[:count], self._free[count:]
        first = self._used
        self._used += count - len(reused)
        if self._used > len(self.values):
            size = max(self._used, 2 * len(self.values))
            self.values = grown(self.values, (size, self.values.shape[1]))
        return np.concatenate([reused, np.arange(first, self._used)])


def grown(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return a larger copy; what is new is zero."""
    larger = np.zeros(shape, array.dtype)
    larger[tuple(slice(n) for n in array.shape)] = array
    return larger
