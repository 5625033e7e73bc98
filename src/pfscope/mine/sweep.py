"""The sweep line: which of many intervals cover all the time in which any is open.

At every moment the one counts that was open when its predecessor ended and ends last, so that no
smaller number of intervals covers as much. What is given are pieces: disjoint, in the order of
time, their lengths sum to the measure of the union. Groups are swept apart, all in one pass.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]
Seconds = NDArray[np.float64]
Places = NDArray[np.float64] | NDArray[np.int64]


class Pieces(NamedTuple):
    """Parts of a critical path, in the order of groups and of time."""

    interval: Indices
    """Which one, by its place in what was swept."""
    start: Seconds
    end: Seconds

    @property
    def length(self) -> Seconds:
        """How long each is: the exclusive time of its interval."""
        return self.end - self.start


class Union(NamedTuple):
    """Times in which any interval of a group was open."""

    group: Indices
    start: Seconds
    end: Seconds


def sweep(start: Seconds, end: Seconds, group: Indices | None = None) -> Pieces:
    """Return the critical path of each group; intervals of no length, or of NaN, are not seen.

    Of intervals that end together the one that began first is taken, of equal ones the first given.

    >>> path = sweep(np.array([0.0, 6, 4, 16]), np.array([10.0, 12, 8, 18]))
    >>> [(int(i), float(s), float(e)) for i, s, e in zip(*path)]
    [(0, 0.0, 10.0), (1, 10.0, 12.0), (3, 16.0, 18.0)]
    """
    seen, begins, stops = _ordered(start, end, group)
    if not len(seen):
        return Pieces(seen, np.empty(0), np.empty(0))
    best = _latest_so_far(stops)
    # Among all that began before an interval's end, the one that ends last; if that is itself, the
    # path breaks off there, and goes on with the longest of those that begin next.
    behind = np.searchsorted(begins, stops, side="right")
    later = best[behind - 1]
    fresh = np.append(best[_last_of_equal(begins)], len(seen))
    chain = _chain(np.where(stops[later] > stops, later, fresh[behind]), int(fresh[0]))
    interval = seen[chain]
    starts, ends = start[interval], end[interval]
    joined = begins[chain[1:]] <= stops[chain[:-1]]
    starts[1:][joined] = ends[:-1][joined]
    return Pieces(interval, starts, ends)


def union(start: Seconds, end: Seconds, group: Indices) -> Union:
    """Put together the intervals of each group that touch or overlap."""
    seen, begins, stops = _ordered(start, end, group)
    if not len(seen):
        return Union(seen, np.empty(0), np.empty(0))
    last = np.maximum.accumulate(stops)
    first = np.flatnonzero(np.concatenate([[True], begins[1:] > last[:-1]]))
    closing = _latest_so_far(stops)[np.append(first[1:], len(seen)) - 1]
    return Union(group[seen[first]], start[seen[first]], end[seen[closing]])


def _ordered(start: Seconds, end: Seconds, group: Indices | None) -> tuple[Indices, Places, Places]:
    """Return intervals by begin, with begins and ends as places on one axis of all groups."""
    seen = np.flatnonzero(end > start)
    begins: Places = start[seen]
    stops: Places = end[seen]
    if group is not None:
        begins, stops = _places(start[seen], end[seen], group[seen])
    order = np.argsort(begins, kind="stable")
    return seen[order], begins[order], stops[order]


def _places(start: Seconds, end: Seconds, group: Indices) -> tuple[Places, Places]:
    """Return times as places in the order of groups and times; equal times have equal places.

    Numbers would lose digits if groups were laid one behind the other; places do not.
    """
    times = np.concatenate([start, end])
    order = np.argsort(times)
    rank = np.empty(len(times), np.int64)
    rank[order] = np.cumsum(np.diff(times[order], prepend=-np.inf) > 0)
    _, groups = np.unique(group, return_inverse=True)
    base = groups * (len(times) + 1)
    return base + rank[: len(start)], base + rank[len(start) :]


def _last_of_equal(ordered: Places) -> Indices:
    """Return for each value where the last one stands that equals it."""
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    return np.repeat(ends, np.diff(ends, prepend=-1))


def _latest_so_far(stops: Places) -> Indices:
    """Return which of the first 1, 2, 3 … has the latest end; the first one where several have."""
    fresh = np.concatenate([[True], stops[1:] > np.maximum.accumulate(stops)[:-1]])
    return np.maximum.accumulate(np.where(fresh, np.arange(len(stops)), 0))


def _chain(following: Indices, first: int) -> Indices:
    """Follow from the first to the end."""
    steps = following.tolist()
    taken, at = [], first
    while at < len(steps):
        taken.append(at)
        at = steps[at]
    return np.array(taken, np.int64)
