"""The search for runs of low bandwidth over a lake."""

from datetime import UTC, datetime

import pytest

from pfscope.mine import factors_low
from pfscope.mine.factors_low import Search, factors_of, low
from pfscope.mine.factors_rules import rules
from pfscope.mine.sources import open_lake
from tests.support.mine_lake import lake_of_rows
from tests.support.mine_tables import files, jobs, written

MB = 10**6
START = datetime(2018, 1, 28, 12, tzinfo=UTC)
SPEEDS = {"a": 1, "b": 10, "c": 100, "d": 1000, "e": 5}
"""MB/s on the critical path, by log; `e` is idle for 9 of 10 seconds."""


def of_run(log, speed):
    times = [(0, 1), (9, 10)] if log == "e" else [(0, 2)]
    run = {"log": log, "job_id": log, "start": START}
    return [{**written(s, e, (e - s) * speed * MB), **run} for s, e in times]


def job_of(log, speed):
    return {
        "log": log, "job_id": log, "start": START, "nprocs": 1000 if log < "c" else 100,
        "files": len(of_run(log, speed)), "user": "u", "executable": f"app-{log in 'ab'}",
    }  # fmt: skip


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    runs = SPEEDS.items()
    rows = {
        "darshan_job": jobs(*(job_of(log, speed) for log, speed in runs)),
        "darshan_file": files(*(file for log, speed in runs for file in of_run(log, speed))),
    }
    place = lake_of_rows(tmp_path_factory.mktemp("lake") / "lake", "2018-01-28", **rows)
    with open_lake(place) as opened:
        yield opened


def found(tables, **search):
    return low(tables, rules("write"), Search(**search))["log"].to_pylist()


def test_the_slowest_come_first(tables):
    assert found(tables) == ["a", "e", "b", "c", "d"]


def test_bandwidth_is_that_of_the_critical_path(tables):
    assert found(tables, below=3 * MB) == ["a"], "e is as slow over its span alone"
    assert found(tables, below=6 * MB) == ["a", "e"]
    assert found(tables, below=10 * MB) == ["a", "e"], "below is below"
    assert found(tables, above=10 * MB) == ["b", "c", "d"]


def test_only_large_runs_of_a_program(tables):
    assert found(tables, min_procs=1000) == ["a", "b"]
    assert found(tables, min_bytes=100 * MB) == ["c", "d"]
    assert found(tables, min_bytes_per_proc=MB) == ["c", "d"]
    assert found(tables, executable="app-False") == ["e", "c", "d"]
    assert found(tables, user="nobody") == []


def test_runs_are_worked_out_a_few_at_a_time(tables, monkeypatch):
    jobs_of_lake = tables.table("darshan_job")
    whole = factors_of(tables, rules("write"), jobs_of_lake).sort_by("log")
    for most in (1, 2, 3):
        monkeypatch.setattr(factors_low, "_FILES_AT_ONCE", most)
        assert factors_of(tables, rules("write"), jobs_of_lake).sort_by("log") == whole


def test_nonsense_in_one_log_stops_no_search(tmp_path):
    """A log can say anything: counters whose sums are no numbers of 64 bits."""
    most = 2**63 - 1
    nonsense = {"posix_writes": most, "posix_size_write_0_100": most, "posix_consec_writes": most,
                "posix_size_write_100_1k": most, "posix_size_write_1k_10k": most,
                "posix_size_write_10k_100k": most, "ranks": most}  # fmt: skip
    run = {"job_id": "1", "start": START}
    huge = [{**written(0, 1, most), **nonsense, **run, "log": "h"} for _ in range(3)]
    place = lake_of_rows(
        tmp_path / "lake", "2018-01-28",
        darshan_job=jobs({**run, "log": "h"}, {**run, "log": "s"}),
        darshan_file=files(*huge, {**written(0, 2, 2 * MB), **run, "log": "s"}),
    )  # fmt: skip
    with open_lake(place) as tables:
        for operation in ("write", "all"):
            rows = low(tables, rules(operation), Search())
            assert rows["log"].to_pylist() == ["s", "h"]
            assert rows["bytes"].to_pylist() == [2 * MB, 2**62]
