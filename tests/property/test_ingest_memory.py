"""A target finds what its ids hold, whatever was found before, and in whatever dictionary."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pfscope.ingest import memory
from pfscope.ingest.memory import TargetMemory
from pfscope.lustre.dictionary import Dictionary

names = st.integers(0, 30).map(lambda i: b"id.%d" % i)
actions = st.lists(
    st.one_of(
        st.tuples(st.just("hold"), st.sets(names)),
        st.tuples(st.just("drop"), st.sets(names)),
        st.tuples(st.just("show"), st.lists(names)),
        st.tuples(st.just("begin a dictionary"), st.none()),
    ),
    max_size=25,
)


@settings(deadline=None, max_examples=100)
@given(actions, st.booleans())
def test_what_is_held_is_found(plan, sparse):
    with pytest.MonkeyPatch.context() as patch:
        if sparse:
            patch.setattr(memory, "_SPARSE", 0)
        play(plan)


def play(plan):
    target, ids, next_slot = TargetMemory(), Dictionary(), 0
    for action, which in plan:
        if action == "hold":
            for raw in which - set(target.slots):
                target.slots[raw] = next_slot = next_slot + 1
        elif action == "drop":
            target.drop(which & set(target.slots))
        elif action == "show":
            numbers = ids.numbers(which)
            expected = [target.slots.get(raw, -1) for raw in which]
            assert target.find(ids.values, numbers.astype(np.int32)).tolist() == expected
        else:
            ids = Dictionary()
