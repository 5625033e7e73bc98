"""Causes: who is named for an increase, what is told beside it, and what is refused."""

import pytest

from pfscope.errors import UsageError
from pfscope.times import iso
from tests.support.query_tables import data_of, frames_at, named, one_series, used
from tests.support.store_rows import HOUR_US, MINUTE_US, at

STEP_US = 10 * MINUTE_US
USERS = ("1000", "1001", "1002", None)
PAST_HOURS = 12
BEGIN, NOW = at(), at(hour=PAST_HOURS + 1)
"""Twelve hours of the past, and one that is asked about."""


def steady(series, rate, since_us=BEGIN, until_us=NOW):
    """Return usage of so many requests a second."""
    return [
        used(series, t, t + STEP_US, rate * STEP_US // 10**6)
        for t in range(since_us, until_us, STEP_US)
    ]


def site(*rows, users=USERS):
    return data_of(
        usage_mdt=[row for some in rows for row in some], operations=named("open"),
        series=[one_series(n, user=user) for n, user in enumerate(users)],
        frames=frames_at(*range(BEGIN, NOW + 1, STEP_US)),
    )  # fmt: skip


def asked(opened, **words):
    return opened.causes(operation="open", **{"start": "-1h", **words})


def test_the_newcomer_is_named_with_its_rates():
    late = NOW - HOUR_US
    rows = steady(0, 50), steady(1, 20), steady(1, 60, late), steady(2, 240, NOW - STEP_US)
    with site(*rows) as opened:
        answer = asked(opened, explain=0.6, step="10m")
        both = asked(opened, explain=0.7, step="10m")
    assert answer.to_pylist() == [
        {
            "rank": 1, "user": "1001", "baseline": pytest.approx(20), "peak": pytest.approx(80),
            "increase": pytest.approx(60), "share": pytest.approx(0.6),
        },
    ]  # fmt: skip
    assert [(r["user"], r["peak"], r["increase"]) for r in both.to_pylist()] == [
        ("1001", pytest.approx(80), pytest.approx(60)),
        ("1002", pytest.approx(240), pytest.approx(40)),
    ]
    about = answer.about
    assert about["total"] == {
        "baseline": pytest.approx(70), "highest_before": pytest.approx(70),
        "mean": pytest.approx(170), "peak": pytest.approx(370), "ratio": pytest.approx(170 / 70),
    }  # fmt: skip
    assert about["named"] == {
        "verdict": "few", "members": 1, "active": 3, "effective": 1.0,
        "explained": pytest.approx(0.6),
    }  # fmt: skip
    assert about["note"] == "few large ones: 1 of 3 make up 60% of the increase"
    assert about["density"] == [
        {"bucket_low": 10.0, "bucket_high": 100.0, "before": 2, "during": 3},
    ]


def test_a_spike_in_the_past_hides_nothing():
    spike = steady(0, 10_000, at(hour=5), at(hour=7))
    with site(steady(0, 10), spike, steady(1, 100, NOW - HOUR_US)) as opened:
        answer = asked(opened)
    assert [(r["user"], r["increase"]) for r in answer.to_pylist()] == [
        ("1001", pytest.approx(100))
    ]
    assert answer.about["total"]["baseline"] == pytest.approx(10)
    assert answer.about["total"]["highest_before"] == pytest.approx(10_010)


def test_ids_without_a_user_can_be_the_cause():
    with site(steady(0, 10), steady(3, 1, BEGIN), steady(3, 70, NOW - HOUR_US)) as opened:
        (row,) = asked(opened).to_pylist()
    assert (row["user"], row["baseline"]) == (None, pytest.approx(1))


def test_everybody_a_little_is_many():
    users = [str(n) for n in range(40)]
    rows = [steady(n, 1) + steady(n, 2, NOW - HOUR_US) for n in range(40)]
    with site(*rows, users=users) as opened:
        answer = asked(opened, limit=7)
    assert len(answer) == 7
    assert answer.about["note"] == "many small ones: 32 of 40 make up 80% of the increase"
    assert answer.about["named"]["effective"] == pytest.approx(32)


@pytest.mark.parametrize("rate", [10, 5])
def test_no_increase_names_nobody(rate):
    until = NOW - HOUR_US
    with site(steady(0, 10, BEGIN, until), steady(1, rate, until)) as opened:
        answer = asked(opened)
    assert len(answer) == 0
    assert answer.table.column_names == ["rank", "user", "baseline", "peak", "increase", "share"]
    assert answer.about["named"] == {"verdict": "none", "members": 0}


def test_nobody_did_anything():
    with site(steady(0, 10)) as opened:
        answer = asked(opened, user="nobody")
    assert (len(answer), answer.about["named"]["verdict"]) == (0, "none")


def test_the_newest_hour_is_asked_about_where_no_time_is_named():
    with site(steady(0, 10), steady(1, 30, NOW - HOUR_US)) as opened:
        answer = opened.causes()
    assert (answer.about["from_us"], answer.about["to_us"]) == (NOW - HOUR_US, NOW)
    assert (answer.about["unit"], answer.to_pylist()[0]["user"]) == ("requests", "1001")
    assert answer.about["baseline_from_us"] == BEGIN


def test_the_past_can_be_named():
    early = steady(0, 90, BEGIN, at(hour=2))
    with site(early, steady(0, 10), steady(0, 20, NOW - HOUR_US)) as opened:
        whole = asked(opened)
        hours = asked(opened, baseline="2h")
        stretch = asked(opened, baseline_start=iso(BEGIN), baseline_end=iso(at(hour=2)))
    assert [answer.about["total"]["baseline"] for answer in (whole, hours, stretch)] == [
        pytest.approx(10), pytest.approx(10), pytest.approx(100),
    ]  # fmt: skip
    assert hours.about["baseline_from_us"] == NOW - 3 * HOUR_US
    assert stretch.about["named"]["verdict"] == "none"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"start": "-2d"}, "no past to compare"),
        ({"start": None, "end": "2020-01-01"}, "no past to compare"),
        ({"baseline_end": iso(BEGIN)}, "no past to compare"),
        ({"baseline": "2h", "baseline_start": "-4h"}, "not by both"),
        ({"explain": 0.0}, "--explain"),
        ({"explain": 1.5}, "--explain"),
        ({"baseline": "soon"}, "no duration"),
    ],
)
def test_what_cannot_be_compared_is_told(words, said):
    with site(steady(0, 10)) as opened, pytest.raises(UsageError, match=said):
        asked(opened, **words)


def test_by_operation_tells_what_rose():
    rows = [
        *steady(0, 5),
        *(used(0, t, t + STEP_US, 600, operation=1) for t in range(NOW - HOUR_US, NOW, STEP_US)),
    ]
    with data_of(
        usage_mdt=rows, operations=named("open", "close"), series=[one_series(0, user="1000")],
        frames=frames_at(*range(BEGIN, NOW + 1, STEP_US)),
    ) as opened:  # fmt: skip
        answer = opened.causes(by=("operation", "user"))
    assert [(r["operation"], r["user"]) for r in answer.to_pylist()] == [("close", "1000")]
