"""Numbers of pairs of a series' slot and an operation, for those pairs alone that have been seen.

A series knows few of the many operations, so a table of small numbers tells where the pair's cell
is; cells grow by large steps and are used again. Cell 0 belongs to no pair and is always zero.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

Numbers = NDArray[np.int64]

_FIRST_CELLS: Final = 1024
GROWTH: Final = 4
"""What is reserved takes no memory before it is used, but to grow is to copy."""
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
            # Where no cell is claimed there is nothing to copy, and zeros take no memory.
            held = self._cells if self._used > 1 else self._cells[:0]
            self._cells = grown(held, wanted)

    def claim(self, slot: Numbers, operation: Numbers) -> Numbers:
        """Return the cell of each pair, a fresh one of zeros where it has none."""
        flat = self._flat(slot, operation)
        cells = self._cells.take(flat)
        missing = np.flatnonzero(cells == 0)
        if len(missing):
            cells[missing] = self._claim_new(flat[missing])
        return cells.astype(np.int64)

    def _claim_new(self, flat: Numbers) -> NDArray[np.int32]:
        fresh = self._fresh(len(flat))
        table = self._cells.reshape(-1)
        table[flat] = fresh
        claimed = table[flat]
        # A damaged text can tell an operation twice: of its cells one is taken.
        self._free = np.concatenate([self._free, fresh[claimed != fresh]])
        return claimed

    def clear(self, slots: Numbers) -> None:
        """Set the cells of some slots to zero."""
        held = self._cells[slots]
        self.values[held[held > 0]] = 0

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
            size = max(self._used, GROWTH * len(self.values))
            self.values = grown(self.values, (size, self.values.shape[1]))
        return np.concatenate([reused, np.arange(first, self._used)])


def grown(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return a larger copy; what is new is zero."""
    larger = np.zeros(shape, array.dtype)
    larger[tuple(slice(n) for n in array.shape)] = array
    return larger
