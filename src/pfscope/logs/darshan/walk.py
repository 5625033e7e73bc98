"""Records whose length stands in them, found in runs of equal ones: in arrays, not one by one."""

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pfscope.logs.darshan.errors import DarshanError
from pfscope.logs.darshan.header import Order

_LONGEST: Final = 1 << 27
"""Words of one record; more makes no sense."""


def as_words(data: bytes, order: Order, what: str) -> NDArray[np.int64]:
    """Return a region as words of 8 bytes."""
    if len(data) % 8:
        raise DarshanError(f"{what} ends in the middle of a record")
    return np.frombuffer(data, f"{order}i8").astype(np.int64, copy=False)


def runs(
    words: NDArray[np.int64],
    head: int,
    keys: tuple[int, ...],
    length: Callable[[tuple[int, ...]], int | None],
    what: str,
) -> Iterator[NDArray[np.int64]]:
    """Yield matrices of successive records that are equally long, a row for each.

    A record begins with `head` words; of those at `keys`, which are alike in a run, `length` tells
    how many words it has in all, or that this makes no sense.
    """
    at, end = 0, len(words)
    while at < end:
        if at + head > end:
            raise DarshanError(f"{what} ends in the middle of a record")
        values = tuple(int(words[at + key]) for key in keys)
        size = length(values)
        if size is None or not head <= size < _LONGEST:
            raise DarshanError(f"{what} has a record whose sizes {values} make no sense")
        count = _alike(words[at:], size, keys, values)
        if not count:
            raise DarshanError(f"{what} ends in the middle of a record")
        yield words[at : at + count * size].reshape(count, size)
        at += count * size


def _alike(
    words: NDArray[np.int64], size: int, keys: tuple[int, ...], values: tuple[int, ...]
) -> int:
    """Return how many records from here on are alike; ever more of them are looked at together."""
    possible = len(words) // size
    count, ahead = 0, 8
    while count < possible:
        rows = words[count * size : min(count + ahead, possible) * size].reshape(-1, size)
        same = np.all(rows[:, keys] == values, axis=1)
        if not same.all():
            return count + int(same.argmin())
        count += len(rows)
        ahead *= 2
    return count
