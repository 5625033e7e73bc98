"""Both sides of a job: what Darshan has of it and what the servers' usage has, on one axis."""

from datetime import UTC, datetime

import numpy as np
import pytest

from pfscope.mine.explain import findings, with_servers
from pfscope.mine.ost_sets import ost_sets
from tests.support.mine_runs import facts_of
from tests.support.mine_tables import written
from tests.support.query_tables import data_of, frames_at, named, one_series, used
from tests.support.store_rows import MINUTE_US, at

MB = 10**6
OSTS = ost_sets(np.array([0, 0]), np.array([0, 10]), 1)[0].as_py()
WROTE = [written(0, 120, 120 * MB, osts=OSTS, ost_count=2, stripe_count=2)]


def series(number, ost, job):
    user = f"u{job}"
    return one_series(number, f"scratch-OST{ost:04x}", user=user, job=job, first_seen=at())


def usage(number, minute, megabytes):
    begin = at(minute=minute)
    return used(number, begin, begin + MINUTE_US, 1, total=megabytes * MB, operation=0)


@pytest.fixture
def data():
    """Job 17 wrote 100 MB in three minutes; job 99 wrote 300 MB on one of its targets."""
    rows = [usage(0, m, n) for m, n in enumerate((20, 20, 10))]
    rows += [usage(1, m, n) for m, n in enumerate((20, 20, 10))]
    rows += [usage(2, 1, 300), usage(3, 1, 900)]
    with data_of(
        operations=named(("write_bytes", "bytes")), usage_ost=rows,
        series=[series(0, 0, "17"), series(1, 10, "17"), series(2, 10, "99"), series(3, 3, "98")],
        frames=frames_at(*(at(minute=m) for m in range(6))),
    ) as opened:  # fmt: skip
        yield opened


@pytest.fixture
def facts(tmp_path, data):
    with facts_of(tmp_path, WROTE, {"ost_count": 2}) as known:
        yield with_servers(known, data)


def test_both_sides_stand_on_one_axis(facts):
    (side,) = facts.servers
    assert side.reason is None
    minutes = (side.edges_us[:-1] - at()) // MINUTE_US
    by_minute = [
        np.bincount(minutes, moved).round(6).tolist() for moved in (side.processes, side.servers)
    ]
    assert [moved[:3] for moved in by_minute] == [
        [60 * MB, 60 * MB, 0],
        [40 * MB, 40 * MB, 20 * MB],
    ]


def test_what_the_servers_saw_and_what_is_missing(facts):
    told = facts.servers[0].told()
    assert told["servers_bytes"] == pytest.approx(100 * MB)
    assert told["difference_bytes"] == pytest.approx(-20 * MB)
    both = {"scratch-OST0000": 50 * MB, "scratch-OST000a": 50 * MB}
    assert told["targets"] == pytest.approx(both)
    assert told["expected"] == pytest.approx(dict.fromkeys(both, 60 * MB))


def test_neighbours_are_those_on_the_same_targets(facts):
    (side,) = facts.servers
    assert [(n.user, n.job, round(n.share, 9)) for n in side.neighbours] == [("u99", "99", 0.75)]
    assert side.own_share == pytest.approx(0.25)


def test_it_is_told_in_words(facts):
    said = {finding.code: finding for finding in findings(facts)}
    assert said["servers-differ"].text.startswith("Servers saw 0.83 times the bytes that processes")
    assert said["busy-targets"].text.startswith("Of the writes on its targets 25 % were the job's")
    assert said["busy-targets"].text.endswith("most others by user u99 job 99, 75 %.")


def test_a_job_that_the_servers_did_not_see(tmp_path, data):
    with facts_of(tmp_path, WROTE, {"job_id": "4711"}) as known:
        (side,) = with_servers(known, data).servers
    assert side.servers_bytes == 0
    assert side.processes_bytes == 120 * MB
    assert "4711" in side.reason


def test_a_job_of_another_time(tmp_path, data):
    long_ago = {"start": datetime(2020, 1, 1, tzinfo=UTC)}
    with facts_of(tmp_path, [{**WROTE[0], **long_ago}], long_ago) as known:
        (side,) = with_servers(known, data).servers
    assert side.reason
    assert side.neighbours == ()


def test_what_is_read_in_no_time_is_not_lost(tmp_path, data):
    at_once = [*WROTE, written(60, 60, 5 * MB)]
    with facts_of(tmp_path, at_once) as known:
        (side,) = with_servers(known, data).servers
    assert side.processes_bytes == 125 * MB
    assert side.processes.sum() == pytest.approx(125 * MB)
