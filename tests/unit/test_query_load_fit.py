"""Costs come back out of loads that were made from them, and are refused where they cannot."""

import numpy as np
import pytest

from pfscope.query.load_fit import LEAST_STEPS, Learned, learn

NO_BYTES = np.zeros(3, bool)
RNG = np.random.Generator(np.random.PCG64(5))


def some_rates(steps=200):
    return RNG.uniform(10, 100, (steps, 3))


def test_costs_and_base_come_back():
    rates, costs = some_rates(), np.array([1e-3, 4e-3, 1e-2])
    found = learn(rates, NO_BYTES, 0.2 + rates @ costs)
    assert isinstance(found, Learned)
    assert found.weights == pytest.approx(costs, rel=0.05)
    assert found.base == pytest.approx(0.2, rel=0.1)
    assert found.fit > 0.99


def test_a_busy_server_takes_longer_for_the_same():
    rates, costs = some_rates(), np.array([1e-3, 4e-3, 1e-2])
    work = rates @ costs
    capacity = 1.05 * work.max()
    found = learn(rates, NO_BYTES, work / (1 - work / capacity))
    assert isinstance(found, Learned)
    assert found.capacity == pytest.approx(capacity, rel=0.5)
    relative = found.weights / found.weights[0]
    assert relative == pytest.approx(costs / costs[0], rel=0.2)


def test_bytes_and_requests_are_told_apart():
    rates = some_rates()
    rates[:, 2] *= 1e6
    found = learn(rates, np.array([False, False, True]), rates @ np.array([2e-3, 2e-3, 3e-9]))
    assert isinstance(found, Learned)
    assert found.weights == pytest.approx([2e-3, 2e-3, 3e-9], rel=0.05)


def test_what_always_goes_together_costs_the_same():
    rates = some_rates()
    rates[:, 1] = rates[:, 0]
    found = learn(rates, NO_BYTES, rates @ np.array([5e-3, 1e-3, 3e-3]))
    assert isinstance(found, Learned)
    assert found.weights[0] == pytest.approx(found.weights[1], rel=1e-3)
    assert found.weights[0] == pytest.approx(3e-3, rel=0.05)


def test_no_cost_is_negative():
    rates = some_rates()
    found = learn(rates, NO_BYTES, 2 + rates @ np.array([5e-3, 0.0, 1e-2]) - 1e-3 * rates[:, 1])
    assert isinstance(found, Learned)
    assert (found.weights >= 0).all()


@pytest.mark.parametrize(
    ("rates", "load", "reason"),
    [
        (some_rates(LEAST_STEPS - 1), np.ones(LEAST_STEPS - 1), "it takes 30"),
        (some_rates(100), np.full(100, 0.01), "nothing to do"),
        (np.zeros((100, 3)), np.ones(100), "nothing to do"),
        (some_rates(100), RNG.uniform(0, 5, 100), "best fit explains"),
        (some_rates(100), np.ones(100), "hardly changed"),
    ],
    ids=["few steps", "idle", "no requests", "noise", "constant"],
)
def test_what_teaches_nothing_is_refused(rates, load, reason):
    assert reason in learn(rates, NO_BYTES, load)
