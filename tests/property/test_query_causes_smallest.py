"""Causes against brute force: increases add up, and no smaller set explains as much."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.query_tables import data_of, frames_at, named, one_series, used
from tests.support.store_rows import HOUR_US, at

USERS = ("a", "b", "c", "d", None)
HOURS = 4
"""The last is asked about; of the others, the one with the middle total is usual."""


@st.composite
def days(draw):
    return [[draw(st.integers(0, 200)) for _ in USERS] for _ in range(HOURS)]


def increases(counts):
    """Return what each user gained, by going through everything."""
    *past, now = counts
    usual = sorted(past, key=sum)[1]
    return {user: now[n] - usual[n] for n, user in enumerate(USERS)}


@settings(max_examples=15, deadline=None)
@given(days(), st.sampled_from([0.5, 0.8, 1.0]))
def test_the_fewest_are_named_that_explain_it(counts, part):
    rows = [
        used(n, at(hour=h), at(hour=h + 1), 3600 * c)
        for h, row in enumerate(counts)
        for n, c in enumerate(row)
        if c
    ]
    frames = frames_at(*range(at(), at(hour=HOURS) + 1, HOUR_US))
    series = [one_series(n, user=user) for n, user in enumerate(USERS)]
    with data_of(usage_mdt=rows, operations=named("open"), series=series, frames=frames) as opened:
        answer = opened.causes(operation="open", start="-1h", step="1h", explain=part)
    gained = increases(counts)
    net = sum(gained.values())
    found = {row["user"]: row["increase"] for row in answer.to_pylist()}
    if net <= 0:
        assert (found, answer.about["named"]["verdict"]) == ({}, "none")
        return
    assert sorted(found.values(), reverse=True) == list(found.values())
    for user, increase in found.items():
        assert increase == pytest.approx(gained[user]) or _tied(counts)
    assert sum(found.values()) >= part * net - 1e-6 or _tied(counts)
    fewer = combinations(gained.values(), len(found) - 1)
    assert all(sum(some) < part * net + 1e-6 for some in fewer) or _tied(counts)


def _tied(counts):
    """Tell whether it is open which of the past hours is the usual one."""
    totals = [sum(row) for row in counts[:-1]]
    return len(set(totals)) < len(totals)
