"""The sweep line against brute force: intervals of whole seconds, so that every tie occurs."""

from itertools import combinations, pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pfscope.mine.sweep import sweep, union

FIGURE_3 = {"F1": (0, 10), "F2": (6, 12), "F3": (4, 8), "F4": (16, 18)}
_TIMES = st.integers(0, 12)
_INTERVALS = st.lists(st.tuples(_TIMES, _TIMES).map(sorted).map(tuple), max_size=7)
_GROUPED = st.lists(st.tuples(st.integers(0, 3), _TIMES, _TIMES), max_size=20)


def arrays(intervals):
    pairs = np.array(intervals, float).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def pieces(intervals):
    path = sweep(*arrays(intervals))
    return [(int(i), s, e) for i, s, e in zip(*path, strict=True)]


def seconds(start, end):
    return set(range(int(start), int(end)))


def covered(intervals):
    return set().union(*(seconds(*pair) for pair in intervals))


def fewest(intervals):
    """How many intervals it takes to cover the union: every choice is tried."""
    whole = covered(intervals)
    sizes = range(len(intervals) + 1)
    return next(
        n for n in sizes if any(covered(some) == whole for some in combinations(intervals, n))
    )


def test_figure_3_of_the_paper():
    names = list(FIGURE_3)
    found = [(names[i], s, e) for i, s, e in pieces(list(FIGURE_3.values()))]
    assert found == [("F1", 0, 10), ("F2", 10, 12), ("F4", 16, 18)]


@given(_INTERVALS)
def test_pieces_cover_the_union_once_and_lie_in_their_intervals(intervals):
    found = pieces(intervals)
    seen = [second for _, s, e in found for second in range(int(s), int(e))]
    assert sorted(seen) == sorted(covered(intervals)), "each second once"
    assert all(intervals[i][0] <= s < e <= intervals[i][1] for i, s, e in found)


@given(_INTERVALS)
def test_no_fewer_intervals_cover_as_much(intervals):
    assert len(pieces(intervals)) == fewest(intervals)


@given(_INTERVALS, st.randoms())
def test_the_order_of_input_does_not_matter(intervals, random):
    shuffled = random.sample(intervals, len(intervals))
    as_told = [(intervals[i], s, e) for i, s, e in pieces(intervals)]
    assert as_told == [(shuffled[i], s, e) for i, s, e in pieces(shuffled)]


@given(_INTERVALS, _TIMES)
def test_intervals_of_no_length_do_no_harm(intervals, at):
    assert pieces([*intervals, (at, at), (at + 1, at), (float("nan"), at)]) == pieces(intervals)


@given(_GROUPED)
@settings(max_examples=200)
def test_groups_swept_together_are_as_swept_alone(rows):
    group = np.array([g for g, _, _ in rows], np.int64)
    start, end = (np.array([row[i] for row in rows], float) for i in (1, 2))
    together = sweep(start, end, group)
    for one in range(4):
        mine = np.flatnonzero(group == one)
        alone = sweep(start[mine], end[mine])
        of_it = group[together.interval] == one
        assert together.interval[of_it].tolist() == mine[alone.interval].tolist()
        assert together.start[of_it].tolist() == alone.start.tolist()
        assert together.end[of_it].tolist() == alone.end.tolist()


@given(_GROUPED)
def test_the_union_of_each_group_has_its_seconds_and_no_two_parts_touch(rows):
    group = np.array([g for g, _, _ in rows], np.int64)
    start, end = (np.array([row[i] for row in rows], float) for i in (1, 2))
    found = list(zip(*(column.tolist() for column in union(start, end, group)), strict=True))
    for one in range(4):
        parts = [(s, e) for g, s, e in found if g == one]
        assert covered(parts) == covered([(s, e) for g, s, e in rows if g == one])
        assert all(before[1] < after[0] for before, after in pairwise(parts))
