"""The grid: every server reads at the same second; slow reading makes the interval longer."""

import signal

import pytest

from pfscope.agent.schedule import Pace, Stop, next_tick, wait_for_tick


@pytest.mark.parametrize(
    ("now", "step", "tick"),
    [(0.0, 60, 60), (59.999, 60, 60), (60.0, 60, 120), (60.001, 60, 120), (1e9 + 0.5, 1, 1e9 + 1)],
)
def test_ticks_are_multiples_of_the_interval(now, step, tick):
    assert next_tick(now, step) == tick


def test_reading_within_a_quarter_of_the_interval_keeps_it():
    pace = Pace(60)
    for duration in (0.1, 15.0, 3.0):
        pace.observe(duration)
        assert pace.effective_s == 60


def test_slow_reading_widens_at_once_and_narrows_after_a_calm_while():
    pace = Pace(5)
    steps = []
    for duration in (0.1, 12.0, 0.1, 0.1, 0.1, 0.1):
        pace.observe(duration)
        steps.append(pace.effective_s)
    assert steps == [5, 50, 50, 50, 5, 5]


def test_narrowing_goes_no_further_than_recent_reading_bears():
    pace = Pace(1)
    for duration in (10.0, 1.0, 2.0, 1.0):
        pace.observe(duration)
    assert pace.effective_s == 8


class World:
    """A clock that moves only when somebody waits; it can be set while that happens."""

    def __init__(self, now, jumps=()):
        self.now, self.jumps, self.waits = now, list(jumps), 0

    def wait(self, seconds):
        self.waits += 1
        assert self.waits < 100
        self.now += self.jumps.pop(0) if self.jumps else seconds


def tick_of(world, step, stopped=lambda: False):
    wait_for_tick(step, world.wait, stopped, lambda: world.now)
    return world.now


def test_waiting_ends_on_the_tick():
    assert tick_of(World(1000.25), 60) == 1020


def test_a_sleep_that_ends_early_is_continued():
    assert tick_of(World(1000.0, [5, 5]), 60) == 1020


def test_a_clock_that_is_set_back_does_not_stop_the_collecting():
    assert tick_of(World(1_000_000.0, [-500_000]), 60) == 500_040


def test_a_clock_that_is_set_forward_ends_the_wait():
    assert tick_of(World(1000.0, [86_400]), 60) == 87_400


def test_the_end_is_not_waited_for():
    world = World(1000.0)
    tick_of(world, 60, stopped=lambda: True)
    assert world.waits == 0


def test_a_signal_ends_a_sleep_at_once():
    stop = Stop()
    previous = signal.signal(signal.SIGALRM, stop.request)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        stop.wait(3600)
        assert stop.requested
        stop.wait(3600)
    finally:
        signal.signal(signal.SIGALRM, previous)
        stop.close()
