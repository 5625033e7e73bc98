"""Silence: how long servers were not heard of, whether anybody uses them or not."""

import pytest

from pfscope.errors import UsageError
from tests.support.query_tables import data_of, frames_at
from tests.support.store_rows import at, moment

EVERY_TWO = [at(minute=m) for m in range(0, 61, 2)]


def shown(time_us, server, target):
    return {
        "time": time_us, "target": target, "class": "sound", "system": False, "entries": 1,
        "server": server,
    }  # fmt: skip


def site():
    """oss1 is read to the end, oss2 falls silent after 40 minutes, mds9 has never had an entry."""
    early = [t for t in EVERY_TWO if t <= at(minute=40)]
    return data_of(
        frames=[
            *frames_at(*EVERY_TWO), *frames_at(*early, server="oss2"),
            *frames_at(*EVERY_TWO[:-1], server="mds9"),
        ],
        quality=[
            *(shown(t, "oss1", "scratch-OST0000") for t in EVERY_TWO),
            *(shown(t, "oss1", "home-OST0000") for t in EVERY_TWO),
            *(shown(t, "oss2", "scratch-OST0001") for t in early),
        ],
    )  # fmt: skip


def test_the_longest_silence_is_first_and_idle_servers_are_heard_of():
    with site() as data:
        found = data.silence()
    assert found.about["unit"] == "seconds"
    assert [(row["server"], row["silent_s"]) for row in found.to_pylist()] == [
        ("oss2", 1200.0), ("mds9", 120.0), ("oss1", 0.0),
    ]  # fmt: skip
    assert found.to_pylist()[0]["last"] == moment(at(minute=40))


def test_a_server_stands_for_each_file_system_it_works_for():
    with site() as data:
        rows = data.silence(by="filesystem,server", filesystem="scratch").to_pylist()
        whole = data.silence(by="filesystem").to_pylist()
    assert [(r["filesystem"], r["server"], r["silent_s"]) for r in rows] == [
        ("scratch", "oss2", 1200.0), ("scratch", "oss1", 0.0),
    ]  # fmt: skip
    assert {(r["filesystem"], r["silent_s"]) for r in whole} == {
        (None, 120.0), ("home", 0.0), ("scratch", 0.0),
    }  # fmt: skip


def test_it_counts_until_the_end_of_the_period_and_forgets_who_is_gone_for_good():
    with site() as data:
        then = {
            r["server"]: r["silent_s"] for r in data.silence(end=moment(at(minute=50))).to_pylist()
        }
        later = {r["server"] for r in data.silence(start=moment(at(minute=45))).to_pylist()}
    assert then == {"oss2": 600.0, "mds9": 0.0, "oss1": 0.0}
    assert later == {"mds9", "oss1"}


@pytest.mark.parametrize("words", [{"by": "user"}, {"user": "1001"}, {"operation": "open"},
                                   {"system": True}])  # fmt: skip
def test_what_servers_do_not_tell_is_refused(words):
    with site() as data, pytest.raises(UsageError):
        data.silence(**words)
