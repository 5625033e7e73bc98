"""Loads that are shared out add up to what there was to share, whoever the members are."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pfscope.query.load_fit import nnls
from tests.support.query_load import damped, edge, own, row, site

STEPS = 3
TIMED = [("open", "usecs"), ("close", "usecs")]


@st.composite
def usages(draw):
    """Rows of three users, each over one step or more, and what the target counted."""
    rows = []
    for user in range(3):
        for operation in range(2):
            step = 0
            while step < STEPS:
                length = draw(st.integers(1, STEPS - step))
                samples = draw(st.integers(0, 1000))
                step += length
                if samples:
                    total = draw(st.integers(0, 10**9))
                    found = row(user, step, samples, total=total, operation=operation)
                    rows.append({**found, "begin": edge(step - length)})
    loads = draw(st.lists(st.floats(0, 50), min_size=STEPS, max_size=STEPS))
    return rows, loads, draw(st.lists(st.integers(0, 5000), min_size=STEPS, max_size=STEPS))


def at_step(rows, step, user=None):
    """Return how many requests lie in a step, spread evenly over their intervals."""
    return sum(
        r["samples"] * (edge(1) - edge(0)) / (r["time"] - r["begin"])
        for r in rows
        if r["begin"] < edge(step) <= r["time"] and user in (None, r["series"])
    )


@settings(deadline=None, max_examples=12)
@given(usages())
def test_loads_are_shares_of_each_step_and_add_up(case):
    rows, loads, counted = case
    users = ("a", "b", "c")
    own_rows = [own(step, n) for step, n in enumerate(counted, 1) if n]
    with site(
        STEPS, TIMED, users, usage_mdt=rows, target_totals=own_rows, server_load=damped(loads)
    ) as data:
        result = data.load(by="user")
    found = {r["user"]: r for r in result.to_pylist()}
    everything = [max(at_step(rows, s), counted[s - 1], 1e-9) for s in range(1, STEPS + 1)]
    for number, user in enumerate(users):
        mine = [r for r in rows if r["series"] == number]
        if not mine:
            assert user not in found
            continue
        shares = [at_step(rows, s, number) / everything[s - 1] for s in range(1, STEPS + 1)]
        equal = sum(share * load for share, load in zip(shares, loads, strict=True)) / STEPS
        assert found[user]["load_equal"] == pytest.approx(equal, rel=1e-6, abs=1e-9)
        seconds = (edge(STEPS) - edge(0)) / 1e6
        service = sum(r["total"] for r in mine) / 1e6 / seconds
        assert found[user]["load_service"] == pytest.approx(service, rel=1e-6, abs=1e-9)
    if found:
        left = result.about["unexplained"]["mds1"]
        for name in ("equal", "service"):
            members = sum(r[f"load_{name}"] for r in found.values())
            assert left[name]["load"] == pytest.approx(left["load"] - members, abs=1e-5)
        assert left["load"] == pytest.approx(sum(loads) / STEPS, abs=1e-5)


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.booleans())
def test_nnls_is_as_good_as_the_best_of_all_subsets(seed, count, alike):
    rng = np.random.Generator(np.random.PCG64(seed))
    rows, right = rng.normal(size=(count + 2, count)), rng.normal(size=count + 2)
    if alike:
        rows[:, -1] = rows[:, 0]
    gram, to = rows.T @ rows, rows.T @ right

    def cost(x):
        return x @ gram @ x - 2 * to @ x

    best = 0.0
    for size in range(1, count + 1):
        for chosen in combinations(range(count), size):
            part = np.linalg.lstsq(rows[:, chosen], right, rcond=None)[0]
            if (part >= 0).all():
                x = np.zeros(count)
                x[list(chosen)] = part
                best = min(best, cost(x))
    found = nnls(gram, to)
    assert (found >= 0).all()
    assert cost(found) <= best + 1e-9
