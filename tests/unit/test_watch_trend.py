"""What counts as a change, when it began, when it is over; and what does not count."""

import numpy as np
import pytest

from pfscope.watch.model import Direction, Signal
from pfscope.watch.trend import Trends
from pfscope.watch.trend_config import Scale, TrendSettings, Unit
from tests.support.trend_noise import (
    DAY_STEPS,
    START_US,
    STEP_US,
    found,
    minute,
    noise,
    run,
    signals,
)

ONE = signals(1)
HOUR = 30
TEN_MINUTES = 600_000_000


def quiet(steps=DAY_STEPS, count=1, **more):
    return noise(np.random.default_rng(5), steps, count, daily=0.0, **more)


def with_change(factor, begin=400, length=HOUR, steps=DAY_STEPS, **more):
    values = quiet(steps, **more)
    values[begin : begin + length] *= factor
    return values


def test_a_rise_is_found_within_three_intervals_and_says_how_it_was():
    said = run(Trends(ONE), with_change(6.0))
    (rise, over) = said
    assert rise.direction is Direction.UP
    assert minute(rise.start_us) == pytest.approx(800, abs=2)
    assert minute(rise.found_us) - 800 <= 6
    assert rise.baseline == pytest.approx(100, rel=0.3)
    assert over.start_us == rise.start_us
    assert minute(over.end_us) == pytest.approx(860, abs=4)
    assert over.ratio == pytest.approx(6, rel=0.5)
    assert not over.settled


def test_a_fall_is_found_too():
    (fall, over) = run(Trends(ONE), with_change(0.1))
    assert fall.direction is over.direction is Direction.DOWN
    assert over.peak < 20 < 50 < over.baseline
    assert minute(over.end_us) == pytest.approx(860, abs=4)


def test_a_single_interval_does_not_last():
    assert run(Trends(ONE), with_change(1000.0, length=1)) == []


def test_what_is_small_in_its_unit_does_not_count_however_large_it_is_relatively():
    assert run(Trends(ONE), with_change(10.0, level=1.5)) == []
    assert run(Trends(signals(1, "bytes")), with_change(8.0, level=1e6)) == []
    assert found(run(Trends(signals(1, "bytes")), with_change(8.0, level=1e8)))


def test_twice_as_much_on_a_steady_signal_counts_and_less_does_not():
    steady = {"sigma": 0.02, "level": 1000.0}
    assert run(Trends(ONE), with_change(1.6, **steady)) == []
    assert found(run(Trends(ONE), with_change(2.6, **steady)))


def test_a_change_that_stays_settles_and_is_the_usual_level_then():
    settings = TrendSettings(settle_s=6 * 3600.0)
    said = run(Trends(ONE, settings), with_change(8.0, length=10**6, steps=2 * DAY_STEPS))
    assert [change.settled for change in said] == [False, True]
    assert minute(said[1].end_us) == pytest.approx(800 + 360, abs=4)


def test_a_level_that_has_settled_is_what_a_fall_back_is_measured_against():
    settings = TrendSettings(settle_s=6 * 3600.0)
    said = run(Trends(ONE, settings), with_change(8.0, length=400, steps=2 * DAY_STEPS))
    fall = found(said)[-1]
    assert fall.direction is Direction.DOWN
    assert fall.baseline == pytest.approx(800, rel=0.3)


def test_a_slow_drift_is_found():
    day = 144
    values = quiet(12 * day, sigma=0.1)
    values[8 * day : 10 * day, 0] *= np.exp(np.linspace(0.0, np.log(12.0), 2 * day))
    values[10 * day :, 0] *= 12.0
    (drift, *_) = found(run(Trends(ONE), values, step_us=TEN_MINUTES))
    assert drift.direction is Direction.UP
    assert 8 * 1440 < minute(drift.found_us) < 10.5 * 1440


def test_what_was_not_observed_is_neither_found_nor_over():
    values, trends = with_change(6.0), Trends(ONE)
    run(trends, values[:410])
    (change,) = trends.ongoing()
    said = run(trends, np.zeros((200, 1)), first=410, observed=False)
    assert said == []
    assert trends.unknown().tolist() == [True]
    assert trends.ongoing() == [change]
    said = run(trends, quiet(20), first=610)
    assert not trends.unknown().any()
    assert [s.start_us for s in said] == [change.start_us]
    assert minute(said[0].end_us) == pytest.approx(610 * 2, abs=4)


def test_nan_is_missing_data():
    values = quiet()
    values[300:500] = np.nan
    assert run(Trends(ONE), values) == []


def test_gaps_do_not_cry_wolf():
    random = np.random.default_rng(2)
    values, seen = quiet(3 * DAY_STEPS, 20), random.random((3 * DAY_STEPS, 20)) > 0.6
    assert run(Trends(signals(20)), values, observed=seen) == []


def test_a_new_signal_does_not_cry_wolf():
    values = np.zeros((DAY_STEPS, 1))
    values[300:] = quiet(DAY_STEPS - 300)
    assert run(Trends(ONE), values) == []


def test_sparse_signals_do_not_cry_wolf():
    random = np.random.default_rng(3)
    values = np.where(random.random((5 * DAY_STEPS, 30)) < 0.02, 15.0, 0.0)
    assert run(Trends(signals(30)), values) == []


def test_who_has_bursts_every_hour_is_used_to_them():
    values = quiet(6 * DAY_STEPS)
    for start in range(20, len(values), 37):
        values[start : start + 4] *= 8.0
    said = found(run(Trends(ONE), values))
    assert all(change.found_us < START_US + 3 * DAY_STEPS * STEP_US for change in said)


def test_the_end_of_a_rise_that_was_too_small_to_count_is_no_fall():
    assert run(Trends(ONE), with_change(10.0, level=1.5, length=2 * HOUR)) == []


def test_an_incident_does_not_hide_the_next_one():
    values = quiet(2 * DAY_STEPS)
    starts = [500, 700, 900, 1100, 1300]
    for start in starts:
        values[start : start + 20] *= 6.0
    said = found(run(Trends(ONE), values))
    assert [round(minute(c.start_us) / 2) for c in said] == pytest.approx(starts, abs=1)


def test_the_hour_of_the_week_is_known_after_two_weeks():
    """A weekly backup of two hours: unusual at first, then what always happens at that time."""
    week = 7 * 144
    values = quiet(4 * week, sigma=0.1)
    for start in range(120, len(values), week):
        values[start : start + 12] *= 10.0
    said = found(run(Trends(ONE), values, step_us=TEN_MINUTES))
    weeks = {int(minute(change.found_us) // (7 * 1440)) for change in said}
    assert 0 in weeks
    assert 3 not in weeks


def test_one_incident_is_no_habit():
    """The same hour a week later is not expected to be busy."""
    week = 7 * 144
    values = quiet(4 * week, sigma=0.1)
    for start in (2 * week + 120, 3 * week + 120):
        values[start : start + 12] *= 10.0
    said = found(run(Trends(ONE), values, step_us=TEN_MINUTES))
    assert [int(minute(c.found_us) // (7 * 1440)) for c in said] == [2, 3]


def test_intervals_may_be_of_any_length():
    """Twelve seconds or two minutes: averages are of time, not of values."""
    values = with_change(6.0)
    fine, said = Trends(ONE), []
    for step, row in enumerate(values):
        for part in range(10):
            begin = START_US + step * STEP_US + part * STEP_US // 10
            said += fine.update(begin + STEP_US // 10, begin, row, True)
    assert len(found(said)) == 1
    assert minute(said[0].start_us) == pytest.approx(800, abs=2)
    assert minute(said[0].found_us) - 800 <= 6


def test_a_step_that_was_taken_is_not_taken_again():
    once, twice, values = Trends(ONE), Trends(ONE), with_change(6.0)
    run(once, values)
    run(twice, values[:500])
    assert run(twice, values[450:500] * 100, first=450) == []
    run(twice, values[500:], first=500)
    np.testing.assert_equal(twice.state(), once.state())


def test_numbers_that_are_not_rates_are_compared_as_they_are():
    celsius = TrendSettings(units={"celsius": Unit(0.1, 5.0, 5.0, log=False)})
    values = np.random.default_rng(1).normal(0.0, 1.0, (DAY_STEPS, 1))
    values[500:530] += 20.0
    (rise, _) = run(Trends([Signal("a", "server", "oss1", "inlet", "celsius")], celsius), values)
    assert abs(rise.baseline) < 1
    assert minute(rise.start_us) == pytest.approx(1000, abs=2)


def test_more_signals_can_be_watched_later():
    values = with_change(6.0, count=2)
    trends = Trends(ONE)
    run(trends, values[:200, :1])
    wider = trends.widened(signals(2))
    said = run(wider, values[200:], first=200)
    assert wider.signals == tuple(signals(2))
    assert {c.signal for c in found(said)} == set(signals(2))
    assert wider.widened(ONE) is wider


def test_a_state_of_other_scales_is_refused():
    state = Trends(ONE).state()
    with pytest.raises(ValueError, match="other scales"):
        Trends.restore(state, TrendSettings(scales=(Scale(60.0, 600.0),)))


def test_the_state_can_be_saved_without_pickling(tmp_path):
    trends = Trends(signals(3))
    run(trends, quiet(50, 3))
    np.savez(tmp_path / "trends.npz", **trends.state())
    with np.load(tmp_path / "trends.npz", allow_pickle=False) as saved:
        again = Trends.restore(saved)
    assert again.signals == trends.signals
    assert np.array_equal(again.state()["long"], trends.state()["long"])


def test_nothing_to_watch_is_no_error():
    assert Trends([]).update(STEP_US, 0, [], []) == []
