"""The tape of the past: where it stands, how fast it runs, and that it ends at now."""

import pytest

from pfscope.top.player import SPEEDS, Player

SECOND_US = 10**6
STEP_US = 60 * SECOND_US
NEWEST_US = 1000 * STEP_US


class Clock:
    def __init__(self):
        self.us = 5 * NEWEST_US

    def __call__(self):
        return self.us


def player(*, live=True):
    clock = Clock()
    made = Player(clock, live=live)
    made.heard(NEWEST_US, STEP_US, newest=True)
    return made, clock


def test_it_begins_at_the_end():
    assert player()[0].state == "live"
    assert player(live=False)[0].state == "end"


def test_a_step_back_stands_still_and_a_step_forward_comes_back():
    tape, _clock = player()
    tape.shift(-STEP_US)
    assert (tape.state, tape.at_us) == ("paused", NEWEST_US - STEP_US)
    tape.shift(STEP_US)
    assert tape.state == "live"


def test_steps_add_up_before_any_picture_came():
    tape, _clock = player()
    for _ in range(3):
        tape.shift(-STEP_US)
    assert tape.at_us == NEWEST_US - 3 * STEP_US


def test_there_is_nothing_before_the_beginning_and_behind_the_end():
    tape, _clock = player()
    tape.shift(STEP_US)
    assert tape.state == "live"
    tape.shift(-2 * NEWEST_US)
    assert tape.at_us == 0


def test_live_stands_still_where_it_was_and_the_end_goes_on():
    tape, clock = player()
    tape.toggle()
    assert (tape.state, tape.at_us) == ("paused", NEWEST_US)
    clock.us += 90 * SECOND_US
    assert tape.end_us() == NEWEST_US + 90 * SECOND_US
    tape.toggle()
    assert tape.state == "playing"


def test_it_runs_as_fast_as_observations_come_and_faster_if_told():
    tape, _clock = player()
    tape.go(NEWEST_US - 100 * STEP_US)
    tape.toggle()
    assert tape.tick(1.0)
    assert tape.at_us == NEWEST_US - 99 * STEP_US
    tape.change_speed(1)
    assert tape.speed == 120
    assert tape.tick(0.5)
    assert tape.at_us == NEWEST_US - 98 * STEP_US


def test_speeds_have_ends():
    tape, _clock = player()
    tape.change_speed(100)
    assert tape.speed == SPEEDS[-1]
    tape.change_speed(-100)
    assert tape.speed == SPEEDS[0]


@pytest.mark.parametrize(("live", "state"), [(True, "live"), (False, "end")])
def test_it_runs_into_the_end(live, state):
    tape, _clock = player(live=live)
    tape.go(NEWEST_US - STEP_US)
    tape.toggle()
    assert tape.tick(2.0)
    assert tape.state == state
    assert not tape.tick(1.0)


def test_what_stands_still_wants_nothing():
    tape, _clock = player()
    tape.go(5)
    assert not tape.tick(10.0)
