"""Records put together by key, in arrays: sums, extremes and what is not known.

Values that are not known are carried beside the numbers, as a mask: Darshan writes -1 for what it
did not monitor, and 0 for times that never came.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pfscope.mine.darshan_runs import Records
from pfscope.mine.schema_darshan import Merge

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
_FROM: Final = {"sum": 0, "min": np.inf, "max": -np.inf}
_LARGEST: Final = np.iinfo(np.int64).max


class Known(NamedTuple):
    """Values, and which of them are known."""

    values: NDArray[Any]
    known: Flags

    def arrow(self, kind: pa.DataType | None = None) -> pa.Array:
        """Return an array in which what is not known is null."""
        return pa.array(self.values, kind, mask=~self.known)

    def where(self, condition: Flags) -> "Known":
        """Return what is not known elsewhere."""
        return Known(self.values, self.known & condition)


def total(parts: Sequence[Known]) -> Known:
    """Add what is known; what no part knows is not known."""
    sums = sum(np.where(part.known, part.values, 0) for part in parts)
    return Known(np.asarray(sums), reduce(np.logical_or, (part.known for part in parts)))


def earliest(parts: Sequence[Known]) -> Known:
    """Return the least of what is known."""
    return _extreme(parts, np.minimum, np.inf)


def latest(parts: Sequence[Known]) -> Known:
    """Return the greatest of what is known."""
    return _extreme(parts, np.maximum, -np.inf)


def _extreme(parts: Sequence[Known], choose: np.ufunc, nothing: float) -> Known:
    known = reduce(np.logical_or, (part.known for part in parts))
    values = reduce(choose, (np.where(part.known, part.values, nothing) for part in parts))
    return Known(np.where(known, values, 0.0), known)


def distinct(parts: Sequence[tuple[Ints, ...]]) -> tuple[tuple[Ints, ...], list[Ints]]:
    """Return all different keys in order, and for each part where its keys stand among them.

    >>> keys, places = distinct([(np.array([2, 1]),), (np.array([2, 3]),)])
    >>> keys[0].tolist(), [place.tolist() for place in places]
    ([1, 2, 3], [[1, 0], [1, 2]])
    """
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.lexsort(columns[::-1])
    ordered = [column[order] for column in columns]
    fresh = fresh_rows(ordered)
    place = np.empty(len(order), np.int64)
    place[order] = np.cumsum(fresh) - 1
    ends = np.cumsum([len(part[0]) for part in parts])
    return tuple(column[fresh] for column in ordered), np.split(place, ends[:-1])


def fresh_rows(ordered: Sequence[Ints]) -> Flags:
    """Return which rows of sorted columns differ from the one before."""
    fresh = np.ones(len(ordered[0]), bool)
    fresh[1:] = reduce(np.logical_or, (column[1:] != column[:-1] for column in ordered))
    return fresh


class Placed:
    """The records of a module, in order of the rows that they belong to."""

    def __init__(self, records: Records, place: Ints) -> None:
        self.records = records
        in_order = bool((place[1:] >= place[:-1]).all())
        self._order = None if in_order else np.argsort(place, kind="stable")
        self._places = place if self._order is None else place[self._order]

    def between(self, begin: int, end: int) -> "Part":
        """Return the records of those rows."""
        low, high = np.searchsorted(self._places, [begin, end])
        taken = slice(low, high) if self._order is None else self._order[low:high]
        return Part(self.records, taken, self._places[low:high] - begin, end - begin)


class Part:
    """The records of some successive rows, and what they come to."""

    def __init__(self, records: Records, taken: Any, row: Ints, size: int) -> None:
        self._records = records
        self._taken = taken
        self.row = row
        self.size = size
        self._starts = np.flatnonzero(fresh_rows([row])) if len(row) else np.empty(0, np.int64)
        self.present = row[self._starts]
        """The rows that have records, once each."""
        self.alone = len(self._starts) == len(row)
        """No row has several records."""

    @property
    def counts(self) -> Ints:
        """How many records each of the rows in `present` has."""
        return np.diff(np.append(self._starts, len(self.row)))

    @property
    def runs(self) -> Ints:
        """Of which run each record is."""
        found: Ints = self._records.run[self._taken]
        return found

    def raw(self, name: str) -> Known:
        """Return a counter, record by record."""
        values = self._records.column(name)[self._taken]
        if "_F_" not in name:
            return Known(values, values >= 0)
        times = values.view(np.float64) if values.flags.c_contiguous else _as_floats(values)
        return Known(times, times > 0 if name.endswith("_TIMESTAMP") else times >= 0)

    def words(self, name: str) -> Ints:
        """Return a column of words, record by record, as it is."""
        found: Ints = self._records.column(name)[self._taken]
        return found

    def merged(self, name: str, how: Merge) -> Known:
        """Return a counter for each row."""
        return self.together(self.raw(name), how)

    def together(self, found: Known, how: Merge) -> Known:
        """Return values of records put together for each row."""
        values, known = found
        if not self.alone:
            empty = _FROM[how] if values.dtype.kind == "f" else _empty(how)
            filled = np.where(known, values, np.asarray(empty, values.dtype))
            function = {"sum": np.add, "min": np.minimum, "max": np.maximum}[how]
            values = function.reduceat(filled, self._starts)
            known = np.logical_or.reduceat(known, self._starts)
        out = np.zeros(self.size, values.dtype)
        out[self.present] = np.where(known, values, 0)
        mask = np.zeros(self.size, bool)
        mask[self.present] = known
        return Known(out, mask)


def _empty(how: Merge) -> int:
    return {"sum": 0, "min": _LARGEST, "max": -_LARGEST}[how]


def _as_floats(values: Ints) -> NDArray[np.float64]:
    return np.ascontiguousarray(values).view(np.float64)
