"""Cells hold what was put into them, pair by pair, however they grow and are used again."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pfscope.ingest.cells import Cells

SLOTS, OPERATIONS = 6, 40
pair = st.tuples(st.integers(0, SLOTS - 1), st.integers(0, OPERATIONS - 1))
actions = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.lists(pair, min_size=1, max_size=8)),
        st.tuples(st.sampled_from(["clear", "release"]), st.sets(st.integers(0, SLOTS - 1))),
    ),
    max_size=20,
)


def arrays(pairs):
    return np.array([s for s, _ in pairs], np.int64), np.array([o for _, o in pairs], np.int64)


@settings(deadline=None, max_examples=100)
@given(actions)
def test_every_pair_has_what_was_written_last(plan):
    cells, held = Cells(2, np.uint64), {}
    cells.reserve(SLOTS, OPERATIONS)
    for number, (action, which) in enumerate(plan, 1):
        if action == "write":
            cells.values[cells.claim(*arrays(which))] = number
            held |= dict.fromkeys(which, number)
        else:
            getattr(cells, action)(np.array(sorted(which), np.int64))
            held |= {key: 0 for key in held if key[0] in which}
        assert not cells.values[0].any()
    every = [(s, o) for s in range(SLOTS) for o in range(OPERATIONS)]
    found = cells.values[cells.claim(*arrays(every))]
    assert found.tolist() == [[held.get(key, 0)] * 2 for key in every]


def test_released_cells_are_used_again():
    cells, slots = Cells(1, np.uint32), np.arange(1000)
    for operation in range(50):
        cells.reserve(1000, operation + 1)
        claimed = cells.claim(slots, np.full(1000, operation))
        assert len(set(claimed.tolist())) == 1000
        cells.release(slots)
    assert len(cells.values) <= 2048


def test_a_pair_that_stands_twice_has_one_cell():
    cells = Cells(1, np.uint64)
    cells.reserve(4, 4)
    first, second = cells.claim(np.array([3, 3]), np.array([2, 2])).tolist()
    assert first == second != 0


def test_pairs_that_stand_twice_take_no_more_cells():
    cells, slots = Cells(1, np.uint64), np.arange(1000).repeat(2)
    cells.reserve(1000, 4)
    for _ in range(20):
        assert len(set(cells.claim(slots, np.zeros(2000, np.int64)).tolist())) == 1000
        cells.release(np.arange(1000))
    assert len(cells.values) <= 4096


def test_cells_keep_their_values_when_more_slots_and_operations_come():
    cells = Cells(1, np.uint64)
    cells.reserve(2, 1)
    cells.values[cells.claim(np.array([0, 1]), np.array([0, 0]))] = [[5], [6]]
    cells.reserve(5000, 100)
    cells.claim(np.arange(2, 5000), np.full(4998, 99))
    place, operation, cell = cells.pairs(np.array([1, 0]))
    assert (place.tolist(), operation.tolist()) == ([0, 1], [0, 0])
    assert cells.values[cell].tolist() == [[6], [5]]
