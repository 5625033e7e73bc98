"""How the files of a batch of runs were striped, by row: of several records, the first one."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pfscope.logs.darshan import Layouts
from pfscope.mine.darshan_runs import Run
from pfscope.mine.merging import Ints
from pfscope.mine.ost_sets import ost_count, ost_sets

_ARRAYS = ("stripe_size", "stripe_count", "stripe_offset", "components", "mirrors")


class Stripes:
    """The layouts of all runs side by side, then placed by row."""

    def __init__(self, runs: list[Run]) -> None:
        found = [(i, run.layouts) for i, run in enumerate(runs) if run.layouts is not None]
        layouts = [layout for _, layout in found]
        empty = np.empty(0, np.int64)
        self.run = np.repeat([i for i, _ in found], [one.rows for one in layouts]).astype(np.int64)
        self.ids = np.concatenate([empty, *(one.ids for one in layouts)])
        self._values = {
            name: np.concatenate([empty, *(_column(one, name) for one in layouts)])
            for name in _ARRAYS
        }
        before = np.cumsum([0, *(one.rows for one in layouts)])
        self._owners = np.concatenate(
            [empty, *(one.owners + before[i] for i, one in enumerate(layouts))]
        )
        self._osts = np.concatenate([empty, *(one.osts for one in layouts)])
        self._place = empty
        self._first = empty

    def place(self, place: Ints) -> None:
        """Tell to which row each record belongs."""
        self._place, self._first = np.unique(place, return_index=True)
        rows = np.full(len(place), -1)
        rows[self._first] = self._place
        owner_rows = rows[self._owners]
        taken = owner_rows >= 0
        order = np.argsort(owner_rows[taken], kind="stable")
        self._owner_rows = owner_rows[taken][order]
        self._listed = self._osts[taken][order]

    def rows(self, begin: int, end: int) -> Ints:
        """Return which of those rows have a record, counted from the first."""
        low, high = np.searchsorted(self._place, [begin, end])
        found: Ints = self._place[low:high] - begin
        return found

    def columns(self, begin: int, end: int) -> dict[str, pa.Array]:
        """Return the columns of those rows."""
        size = end - begin
        rows = self.rows(begin, end)
        if not len(rows):
            return {}
        low, high = np.searchsorted(self._place, [begin, end])
        first = self._first[low:high]
        absent = np.ones(size, bool)
        absent[rows] = False
        columns = {}
        for name, values in self._values.items():
            out = np.zeros(size, np.int64)
            out[rows] = values[first]
            columns[name] = pa.array(out, mask=absent | (out == _unknown(name)))
        at, until = np.searchsorted(self._owner_rows, [begin, end])
        sets = ost_sets(self._owner_rows[at:until] - begin, self._listed[at:until], size)
        sets = _masked(sets, absent)
        return {**columns, "osts": sets, "ost_count": ost_count(sets)}

    def of_runs(self, count: int) -> pa.Array:
        """Return the OSTs of each run; null where it has no record."""
        absent = np.ones(count, bool)
        absent[self.run] = False
        return _masked(ost_sets(self.run[self._owners], self._osts, count), absent)


_NO_OFFSET = np.iinfo(np.int64).min
"""An offset of -1 is one: any."""


def _column(layouts: Layouts, name: str) -> Ints:
    if name == "stripe_offset" and not layouts.has_offset:
        return np.full(layouts.rows, _NO_OFFSET)
    found: Ints = getattr(layouts, name)
    return found


def _unknown(name: str) -> int:
    return int(_NO_OFFSET) if name == "stripe_offset" else -1


def _masked(sets: pa.Array, absent: NDArray[np.bool_]) -> pa.Array:
    """Make values null; they are empty already."""
    _, offsets, data = sets.buffers()
    known = pa.py_buffer(np.packbits(~absent, bitorder="little"))
    return pa.Array.from_buffers(pa.binary(), len(sets), [known, offsets, data])
