"""Rules on questions: which rows are too high or too low, and when nobody can say."""

import pytest

import pfscope
from pfscope.config import parse_config
from pfscope.watch.alerts.engine import Engine
from pfscope.watch.alerts.model import Seen
from pfscope.watch.alerts.rules import MINUTE_US
from pfscope.watch.alerts.templates import Templates, render
from pfscope.watch.alerts.thresholds import ask
from tests.support import alert_world as world
from tests.support.query_store import T2, make_store


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    with pfscope.open(make_store(tmp_path_factory.mktemp("store"))) as opened:
        yield opened


def rule(query="top --by user --operation open", column="rate_mean", bound="above = 0.2", **more):
    lines = "".join(f"{key} = {value!r}\n" for key, value in more.items())
    text = f'[alert.busy]\nquery = "{query}"\ncolumn = "{column}"\n{bound}\n{lines}'
    return parse_config(text, "x").alerts.rules[0]


def active(asked):
    return sorted(
        (seen.labels.get("user", ("",))[0], round(seen.facts["threshold"]["value"], 3))
        for seen in asked.observations
        if seen.seen is Seen.ACTIVE
    )


def test_rows_beyond_the_bound_are_active_and_all_others_quiet(data):
    asked = ask(rule(), data, T2)
    assert active(asked) == [("1001", 1.5), ("1002", 0.25)]
    assert asked.observations[0].instance is None
    assert asked.observations[0].seen is Seen.QUIET
    assert asked.trouble == ""


def test_too_little_can_be_asked_for_too(data):
    assert active(ask(rule(bound="below = 0.2"), data, T2)) == [("0", 0.05)]


def test_over_time_the_last_step_counts(data):
    asked = ask(rule("series --by user --operation open", "rate"), data, T2)
    assert active(asked) == [("1001", 2.0)]


@pytest.mark.parametrize(
    ("query", "column", "now_us", "why"),
    [
        ("top --by user --operation open", "rate_mean", T2 + 11 * MINUTE_US, "660 s old"),
        ("top --by user --operation open", "rate", T2, "no column 'rate'; it has rank, user"),
        ("top --by user --operation opne", "rate_mean", T2, "no operation or metric"),
    ],
)
def test_without_an_answer_nobody_knows(data, query, column, now_us, why):
    asked = ask(rule(query, column), data, now_us)
    assert [(seen.instance, seen.seen) for seen in asked.observations] == [(None, Seen.MISSING)]
    assert why in asked.trouble


def test_data_may_be_as_old_as_the_rule_says(data):
    assert active(ask(rule(stale="1h"), data, T2 + 30 * MINUTE_US)) != []


def test_an_alert_tells_the_number_the_bound_and_the_question(data):
    wanted = rule(bound="above = 0.2\nlabels = {severity = 'critical'}")
    engine = Engine([world.rule("busy", on=wanted.on, labels=wanted.labels)])
    (told,) = engine.advance(T2, ask(wanted, data, T2).observations)
    message = render(told, Templates())
    assert "user 1001: rate_mean is 1.5, above 0.2\n" in message.text
    assert "pfscope query top --by user --operation open\n" in message.text
    assert told.severity == "critical"
    assert {alert.labels["user"] for alert in told.alerts} == {("1001",), ("1002",)}


def test_a_hostile_name_is_told_as_text(data):
    wanted = rule("top --by executable --operation open", bound="above = 0.01")
    observations = ask(wanted, data, T2).observations
    (told,) = Engine([world.rule("busy", on=wanted.on)]).advance(T2, observations)
    assert "\x1b" not in render(told, Templates()).text
