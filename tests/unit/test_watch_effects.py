"""What an incident did to others, how sound the data was, and how it ended."""

from dataclasses import replace

import pytest

import pfscope
from pfscope.store.embedded import open_store
from pfscope.watch.effects import effects
from pfscope.watch.grouping import Group
from pfscope.watch.model import Cause, Change, Direction, Signal
from tests.support.query_tables import named, one_series, used
from tests.support.store_rows import at, table

TARGET = "scratch-MDT0000"
START, END, UNTIL = (at(minute=minute) for minute in (60, 80, 100))
CHANGE = Change(
    Signal("scratch", "target", TARGET, "metadata"),
    Direction.UP, START, START, END, baseline=10.0, peak=2000.0,
)  # fmt: skip
CULPRIT = Cause("1002", "77", None, None, 1.0, 1.0)


def rows(unit):
    """Others' requests take 0.2 ms, and 3 ms while 1002 makes slower ones of its own."""
    minutes = [(minute, at(minute=minute - 1), at(minute=minute)) for minute in range(1, 101)]
    slow = [60 < minute <= 80 for minute, _, _ in minutes]
    others = [
        used(0, begin, end, 100, 100 * (3000 if late else 200))
        for (_, begin, end), late in zip(minutes, slow, strict=True)
    ]
    culprit = [
        used(1, begin, end, 9000, 9000 * 50_000) for n, begin, end in minutes if 60 < n <= 80
    ]
    entries = {"target": TARGET, "server": "mds1", "system": False, "skipped": 0, "repeated": 0}
    return {
        "operations": named(("open", unit)),
        "series": [one_series(0, TARGET, user="1001"), one_series(1, TARGET, user="1002")],
        "usage_mdt": others + culprit,
        "frames": [
            {
                "server": "mds1",
                "epoch": "e",
                "sequence": n,
                "time": end,
                "state": "stored",
                "entries": 4,
            }
            for n, _, end in minutes
        ],
        "quality": [
            {"time": end, "class": name, "entries": count, **entries}
            for _, _, end in minutes
            for name, count in (("sound", 3), ("truncated", 1))
        ],
    }


@pytest.fixture(scope="module", params=["usecs", "reqs"])
def world(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp(request.param)
    with open_store(directory) as store:
        store.commit({name: table(name, found) for name, found in rows(request.param).items()}, [])
    with pfscope.open(directory) as data:
        yield request.param, data


def test_others_waited_longer_and_the_culprit_is_no_other(world):
    unit, data = world
    found = dict(effects(data, Group((CHANGE,)), CULPRIT, UNTIL))
    told = "their requests took 3 ms in the mean, 0.2 ms before"
    assert found.get("others") == (told if unit == "usecs" else None)


def test_without_a_cause_everybody_is_an_other(world):
    unit, data = world
    found = dict(effects(data, Group((CHANGE,)), None, UNTIL))
    assert ("others" in found) == (unit == "usecs")
    assert "took 49.5 ms" in found.get("others", "took 49.5 ms")


def test_the_data_and_the_end_are_told(world):
    _, data = world
    found = dict(effects(data, Group((CHANGE,)), CULPRIT, UNTIL))
    assert found["data"] == "75% of the entries have a sound id"
    assert found["ending"] == "it was over after 20 min"


def test_what_goes_on_has_no_end_and_what_stayed_says_so(world):
    _, data = world
    ongoing = effects(data, Group((replace(CHANGE, end_us=None),)), CULPRIT, UNTIL)
    assert "ending" not in dict(ongoing)
    settled = dict(effects(data, Group((replace(CHANGE, settled=True),)), CULPRIT, UNTIL))
    assert settled["ending"].startswith("the new level has been the usual one")


def test_nothing_is_said_of_what_nobody_observed(world):
    _, data = world
    elsewhere = replace(CHANGE, signal=replace(CHANGE.signal, name="scratch-MDT0009"))
    assert set(dict(effects(data, Group((elsewhere,)), CULPRIT, UNTIL))) == {"ending"}


def test_who_waits_for_an_alert_does_not_wait_for_it(world):
    _, data = world
    fresh = replace(CHANGE, found_us=UNTIL - 30 * 10**6, end_us=None)
    assert effects(data, Group((fresh,)), CULPRIT, UNTIL) == ()
