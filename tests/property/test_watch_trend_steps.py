"""Trends: the same from a state as without a break, alone as beside others, fine as coarse."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pfscope.watch.trend import Trends
from pfscope.watch.trend_filter import crossing_s, gains, masses
from tests.support.trend_noise import START_US, STEP_US, run, signals

MODEST = settings(deadline=None, max_examples=25)
STEPS, COUNT = 120, 3
seeds = st.integers(0, 10**6)


def rough(seed, steps=STEPS, count=COUNT):
    """Values with jumps and gaps: whatever may happen."""
    random = np.random.default_rng(seed)
    values = 200.0 * np.exp(np.cumsum(random.normal(0.0, 0.1, (steps, count)), axis=0))
    for _ in range(4):
        first = random.integers(0, steps)
        column = random.integers(0, count)
        values[first : first + random.integers(1, 20), column] *= random.choice([0.0, 0.05, 20.0])
    values[random.random((steps, count)) < 0.1] = np.nan
    return values


@MODEST
@given(seed=seeds, cut=st.integers(0, STEPS))
def test_a_restored_run_goes_on_as_if_it_had_never_stopped(seed, cut):
    values, whole, first = rough(seed), Trends(signals(COUNT)), Trends(signals(COUNT))
    expected = run(whole, values)
    said = run(first, values[:cut])
    second = Trends.restore(first.state())
    said += run(second, values[cut:], first=cut)
    assert said == expected
    assert second.ongoing() == whole.ongoing()
    np.testing.assert_equal(second.state(), whole.state())


@MODEST
@given(seed=seeds)
def test_signals_do_not_know_of_each_other(seed):
    values, watched = rough(seed), signals(COUNT)
    together = run(Trends(watched), values)
    for number, signal in enumerate(watched):
        alone = run(Trends([signal]), values[:, [number]])
        assert alone == [change for change in together if change.signal == signal]


@MODEST
@given(seed=seeds)
def test_changes_of_a_signal_do_not_overlap_and_have_an_order(seed):
    trends = Trends(signals(COUNT))
    said = run(trends, rough(seed, 400))
    for signal in trends.signals:
        own = [c for c in said if c.signal == signal]
        for begun, over in zip(own[::2], own[1::2], strict=False):
            assert begun.end_us is None
            assert over.start_us == begun.start_us <= begun.found_us
            assert over.start_us < over.end_us
            assert max(over.peak, begun.peak) == over.peak or over.direction == "down"
        ongoing = [c for c in trends.ongoing() if c.signal == signal]
        assert len(ongoing) == len(own) % 2


@MODEST
@given(
    lengths=st.lists(st.floats(0.5, 5000), min_size=1, max_size=10),
    parts=st.integers(2, 7),
    tau=st.floats(10, 10**5),
    seed=seeds,
)
def test_averages_of_step_functions_are_exact(lengths, parts, tau, seed):
    """The integral of value times weight, worked out directly; cutting an interval is no matter."""
    values = np.random.default_rng(seed).normal(0, 1, len(lengths))
    edges = np.concatenate([[0.0], np.cumsum(lengths)])
    weights = np.diff(np.exp((edges - edges[-1]) / tau))
    expected = (weights * values).sum() / weights.sum()
    for cuts in (1, parts):
        average, mass = np.zeros(1), np.zeros(1)
        for length, value in zip(lengths, values, strict=True):
            for _ in range(cuts):
                piece = np.array([length / cuts])
                _, mass = masses(mass, np.zeros(1), piece, np.array([tau]))
                average += gains(mass, piece, np.array([tau])) * (value - average)
        np.testing.assert_allclose(average, expected, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(mass, -np.expm1(-edges[-1] / tau), rtol=1e-6)


@MODEST
@given(
    old=st.floats(-5, 5), value=st.floats(-5, 5), part=st.floats(0.05, 0.95),
    mass=st.floats(0.05, 1), tau=st.floats(10, 10**5),
)  # fmt: skip
def test_a_crossing_is_where_the_average_is_at_the_line(old, value, part, mass, tau):
    line = old + part * (value - old)
    arrays = [np.array([n]) for n in (old, value, line, mass, tau)]
    seconds = crossing_s(*arrays)
    _, grown = masses(arrays[3], np.zeros(1), seconds, arrays[4])
    there = old + gains(grown, seconds, arrays[4]) * (value - old)
    np.testing.assert_allclose(there, line, atol=1e-6)


@MODEST
@given(seed=seeds, gap=st.integers(1, 3000))
def test_time_without_observations_changes_nothing_by_itself(seed, gap):
    values, trends = rough(seed), Trends(signals(COUNT))
    run(trends, values)
    before = trends.state()
    missing, begin = np.full((1, COUNT), np.nan), START_US + STEPS * STEP_US
    assert trends.update(begin + gap * STEP_US, begin, missing[0], True) == []
    before.pop("time_us")
    after = {name: trends.state()[name] for name in before}
    np.testing.assert_equal(after, before)
