"""The states of alerts: when they fire, when they are over, what lost data does."""

import pytest

from pfscope.watch.alerts.engine import LIMIT, Engine
from pfscope.watch.alerts.facts import on_incidents
from pfscope.watch.alerts.model import Observation, Phase, Seen
from pfscope.watch.alerts.rules import MINUTE_US, Flapping, OnIncidents
from pfscope.watch.model import Severity, State
from tests.support import alert_world as world

DAY = 24 * 60


class Played:
    """An engine with one rule, told of one incident at given minutes."""

    def __init__(self, **rule):
        self.rules = [world.rule(**rule)]
        self.engine = Engine(self.rules)

    def at(self, minute, state=None, **more):
        """Return what is told then."""
        known = [] if state is None else [world.incident(state, **more)]
        told = self.engine.advance(world.at(minute), on_incidents(self.rules, known))
        return [notification.kind.value for notification in told]

    @property
    def phase(self):
        (alert,) = self.engine.alerts
        return alert.phase


def test_without_for_it_fires_at_once_and_is_over_when_it_has_been_quiet():
    played = Played(keep_firing_for_us=5 * MINUTE_US)
    assert played.at(0, State.ONGOING) == ["firing"]
    assert played.at(1, State.ONGOING) == []
    assert played.at(2, State.ENDED) == []
    assert played.at(6, State.ENDED) == []
    assert played.at(7, State.ENDED) == ["resolved"]
    assert played.at(8, State.ENDED) == []


def test_for_waits_and_what_is_over_before_is_never_told():
    played = Played(for_us=5 * MINUTE_US)
    played.at(0, State.ONGOING)
    assert played.phase is Phase.PENDING
    assert played.at(4, State.ENDED) == []
    assert played.engine.alerts == []
    played.at(5, State.ONGOING)
    assert played.at(9, State.ONGOING) == []
    assert played.at(10, State.ONGOING) == ["firing"]


def test_lost_data_neither_fires_nor_resolves():
    played = Played(for_us=5 * MINUTE_US, keep_firing_for_us=5 * MINUTE_US)
    played.at(0, State.ONGOING)
    assert played.at(60, State.UNKNOWN) == []
    assert played.at(120, State.ONGOING) == []
    assert played.at(124, State.ONGOING) == []
    assert played.at(125, State.ONGOING) == ["firing"]
    assert played.at(500, State.UNKNOWN) == []
    assert played.phase is Phase.MISSING
    assert played.at(DAY, State.UNKNOWN) == []
    assert played.at(DAY + 1, State.ENDED) == []
    assert played.at(DAY + 6, State.ENDED) == ["resolved"]


def test_lost_data_is_no_reason_to_repeat():
    played = Played(repeat_us=60 * MINUTE_US)
    played.at(0, State.ONGOING)
    assert played.at(59, State.ONGOING) == []
    assert played.at(60, State.ONGOING) == ["repeat"]
    assert played.at(200, State.UNKNOWN) == []
    assert played.at(201, State.ONGOING) == ["repeat"]


def test_after_a_week_without_data_an_alert_is_given_up():
    played = Played()
    played.at(0, State.ONGOING)
    played.at(1, State.UNKNOWN)
    assert played.at(7 * DAY, State.UNKNOWN) == []
    assert played.at(7 * DAY + 2, State.UNKNOWN) == ["resolved"]


def test_time_in_which_nobody_ran_does_not_count():
    played = Played(keep_firing_for_us=5 * MINUTE_US)
    played.at(0, State.ONGOING)
    played.at(1, State.ENDED)
    played.engine = Engine(played.rules, world.as_stored(played.engine.state()))
    assert played.at(600, State.ENDED) == []
    assert played.at(606, State.ENDED) == ["resolved"]


def test_after_a_restart_nothing_goes_on_until_somebody_says_so():
    played = Played(repeat_us=60 * MINUTE_US)
    played.at(0, State.ONGOING)
    played.engine = Engine(played.rules, world.as_stored(played.engine.state()))
    assert played.at(100) == []
    assert played.phase is Phase.MISSING
    assert played.at(101, State.ONGOING) == ["repeat"]


def test_a_clock_that_is_set_back_does_no_harm():
    played = Played(for_us=5 * MINUTE_US)
    played.at(0, State.ONGOING)
    assert played.at(-60, State.ONGOING) == []
    assert played.at(-55, State.ONGOING) == ["firing"]


def test_flapping_ends_only_after_a_calm_window():
    flapping = Flapping(changes=4, window_us=60 * MINUTE_US)
    played = Played(keep_firing_for_us=0, flapping=flapping)
    told = []
    for minute in range(20):
        told += played.at(minute, State.ENDED if minute % 2 else State.ONGOING)
    assert told == ["firing", "resolved", "firing", "resolved", "firing"]
    assert played.engine.alerts[0].flapping
    assert played.at(60, State.ENDED) == []
    assert played.at(81, State.ENDED) == ["resolved"]


def test_an_incident_that_is_no_longer_severe_enough_is_over_for_the_rule():
    played = Played(on=OnIncidents("critical"), keep_firing_for_us=0)
    assert played.at(0, State.ONGOING) == []
    assert played.at(1, State.ONGOING, severity=Severity.CRITICAL) == ["firing"]
    assert played.at(2, State.ONGOING, severity=Severity.WARNING) == ["resolved"]


def test_more_severe_is_told_less_severe_is_not():
    played = Played()
    assert played.at(0, State.ONGOING, severity=Severity.WARNING) == ["firing"]
    assert played.at(1, State.ONGOING, severity=Severity.INFO) == []
    assert played.at(2, State.ONGOING, severity=Severity.WARNING) == []
    assert played.at(3, State.ONGOING, severity=Severity.CRITICAL) == ["update"]
    assert played.at(4, State.ONGOING, severity=Severity.WARNING) == []
    assert played.at(5, State.ONGOING, severity=Severity.CRITICAL) == []


def test_what_is_worse_is_told_at_once_and_what_is_not_waits_its_turn():
    rules = [world.rule(update_us=5 * MINUTE_US)]
    engine, told = Engine(rules), []
    second = [Severity.WARNING] * 2 + [Severity.CRITICAL] * 2
    for minute, severity in enumerate(second):
        more = world.incident(id=f"i{minute}", severity=severity)
        told.append(engine.advance(world.at(minute), on_incidents(rules, [more])))
    assert [[n.kind.value for n in each] for each in told] == [["firing"], [], ["update"], []]
    (late,) = engine.advance(world.at(7), on_incidents(rules, []))
    assert {alert.instance for alert in late.alerts} == {"i0", "i1", "i2", "i3"}


def test_what_the_whole_does_not_hold_is_over():
    rules = [world.rule(keep_firing_for_us=0)]
    engine = Engine(rules)
    engine.advance(world.at(0), on_incidents(rules, [world.incident()], whole=True))
    (told,) = engine.advance(world.at(1), on_incidents(rules, [], whole=True))
    assert told.kind.value == "resolved"


def test_a_rule_that_is_gone_leaves_nothing_open():
    engine = Engine([world.rule()])
    (first,) = engine.advance(0, on_incidents([world.rule()], [world.incident()]))
    changed = Engine([world.rule("other")], world.as_stored(engine.state()))
    (last,) = changed.advance(1)
    assert (last.kind.value, last.group) == ("resolved", first.group)
    assert [alert.id for alert in last.alerts] == [alert.id for alert in first.alerts]


def test_a_flood_is_bounded_and_counted():
    flood = [Observation("storm", str(n), Seen.ACTIVE) for n in range(LIMIT + 5)]
    engine = Engine([world.rule()])
    (told,) = engine.advance(0, flood)
    assert len(told.alerts) == LIMIT
    assert engine.overflow["storm"] == 5


@pytest.mark.parametrize("state", [State.ENDED, State.UNKNOWN, State.SETTLED])
def test_what_was_never_seen_to_go_on_is_nothing(state):
    played = Played()
    assert played.at(0, state) == []
    assert played.engine.alerts == []
