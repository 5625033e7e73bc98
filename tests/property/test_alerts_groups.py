"""Whatever incidents come and go: each group is opened once, closed once, and tells the truth."""

import re
from collections import defaultdict

from hypothesis import given, settings
from hypothesis import strategies as st

from pfscope.watch.alerts.engine import Engine
from pfscope.watch.alerts.facts import on_incidents
from pfscope.watch.alerts.rules import MINUTE_US, Inhibition, OnIncidents
from pfscope.watch.alerts.silences import Silence
from pfscope.watch.model import Severity, State
from tests.support import alert_world as world

RULES = [
    world.rule("dead", on=OnIncidents("info", {"kind": ("dead",)}),
               inhibits=Inhibition(("slow",))),
    world.rule("slow", on=OnIncidents("info", {"kind": ("slow",)}), for_us=2 * MINUTE_US,
               repeat_us=60 * MINUTE_US, update_us=5 * MINUTE_US),
    world.rule("severe", on=OnIncidents("critical"), notify=("ops", "chat"), group_by=("kind",)),
]  # fmt: skip
SILENCES = [Silence("s1", "anna", "known", world.at(100), world.at(400), {"filesystem": ("home",)})]
STEPS = st.lists(
    st.tuples(
        st.integers(0, 90),
        st.dictionaries(
            st.sampled_from([f"{kind}-{fs}-{n}" for kind in ("dead", "slow")
                             for fs in ("scratch", "home") for n in (1, 2)]),
            st.tuples(st.sampled_from(State), st.sampled_from(Severity)),
            max_size=5,
        ),
        st.booleans(),
    ),
    min_size=1, max_size=25,
)  # fmt: skip


def made(name, state, severity):
    kind, filesystem, _ = name.split("-")
    return world.incident(state, id=name, kind=kind, filesystem=filesystem, severity=severity)


def run(steps, restarts=True):
    """Play steps and then silence; return all notifications and the alerts that ever fired."""
    engine, now_us, told, fired = Engine(RULES), world.START_US, [], {}
    quiet = [(20, dict.fromkeys(name for _, these, _ in steps for name in these), False)] * 12
    for minutes, these, restart in [*steps, *quiet]:
        now_us += minutes * MINUTE_US
        known = [made(n, *(how or (State.ENDED, Severity.INFO))) for n, how in these.items()]
        told += engine.advance(now_us, on_incidents(RULES, known), SILENCES)
        fired |= {a.id: a for a in engine.alerts if a.fired_us is not None}
        if restart and restarts:
            engine = Engine(RULES, world.as_stored(engine.state()))
    return engine, told, fired


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_a_group_is_opened_and_closed_once(steps):
    engine, told, _ = run(steps)
    by_group = defaultdict(str)
    for notification in told:
        by_group[notification.group] += notification.kind.value[:2] + " "
    assert all(re.fullmatch(r"fi ((up|re) )*re ", kinds) for kinds in by_group.values())
    assert all(n.kind.value == "resolved" for n in {n.group: n for n in told}.values())
    assert engine.state()["groups"] == []


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_nothing_is_told_that_did_not_fire_and_no_key_comes_twice(steps):
    _, told, fired = run(steps)
    assert {alert.id for n in told for alert in n.alerts} <= set(fired)
    assert len({n.key for n in told}) == len(told)


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_a_dead_server_is_told_of_unless_it_is_silenced(steps):
    _, told, fired = run(steps)
    known = {alert.id for n in told for alert in n.alerts}
    loud = {a.id for a in fired.values() if a.rule == "dead" and "scratch" in a.instance}
    assert loud <= known


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_the_same_again_is_the_same(steps):
    assert run(steps)[1] == run(steps)[1]


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_duplicated_updates_change_nothing(steps):
    def doubled(steps):
        for minutes, these, _ in steps:
            yield minutes, these, False
            yield 0, these, False

    plain = [n.key for n in run(steps, restarts=False)[1]]
    assert [n.key for n in run(list(doubled(steps)))[1]] == plain
