"""The scheduler's records in the table `jobs`: what is new is written, and nothing is forgotten."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from pfscope.ingest.jobs import JobRecorder
from pfscope.logs.slurm import ALLOCATIONS
from pfscope.store.embedded import open_store

NOW = 1_700_000_000_000_000


def at(hour):
    return datetime(2022, 10, 27, hour, tzinfo=UTC)


def job(number, **said):
    row = {"job": str(number), "project": "project_7", "submit": at(0), "user": "10234"}
    return row | said


def waiting(number=1, **said):
    return job(number, state="PENDING", **said)


def running(number=1, **said):
    return job(number, **({"state": "RUNNING", "start": at(1), "nodes": "n1"} | said))


def ended(number=1, **said):
    return running(number, **({"state": "COMPLETED", "end": at(2)} | said))


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "data") as opened:
        yield opened


def record(store, *jobs, now_us=NOW):
    """Import the jobs in one run; return (new, updated, unchanged, older)."""
    recorder = JobRecorder(store, now_us)
    rows = [{"line": line, **row} for line, row in enumerate(jobs)]
    recorder.record(pa.Table.from_pylist(rows, ALLOCATIONS))
    counts = recorder.counts
    return counts.new, counts.updated, counts.unchanged, counts.older


def rows(store):
    return store.query("SELECT * FROM jobs ORDER BY job, recorded").to_pylist()


def test_the_same_jobs_again_add_nothing(store):
    jobs = [waiting(1), running(2), ended(3)]
    assert record(store, *jobs) == (3, 0, 0, 0)
    assert record(store, *jobs, now_us=NOW + 1) == (0, 0, 3, 0)
    assert len(rows(store)) == 3


def test_a_job_goes_its_way(store):
    assert record(store, waiting()) == (1, 0, 0, 0)
    assert record(store, running()) == (0, 1, 0, 0)
    assert record(store, ended()) == (0, 1, 0, 0)
    assert [row["state"] for row in rows(store)] == ["PENDING", "RUNNING", "COMPLETED"]
    assert len({row["recorded"] for row in rows(store)}) == 3


def test_an_older_text_takes_nothing_back(store):
    record(store, ended())
    assert record(store, running()) == (0, 0, 0, 1)
    assert record(store, waiting()) == (0, 0, 0, 1)
    assert record(store, ended(submit=at(0).replace(year=2021), state="FAILED")) == (0, 0, 0, 1)
    assert [row["state"] for row in rows(store)] == ["COMPLETED"]


def test_a_correction_of_what_has_ended_counts(store):
    record(store, ended())
    assert record(store, ended(end=at(3), state="FAILED")) == (0, 1, 0, 0)
    assert rows(store)[-1]["end"] == at(3)


def test_a_job_that_was_queued_again(store):
    record(store, ended(state="NODE_FAIL"))
    again = waiting(submit=at(3), nodes=None)
    assert record(store, ended(state="NODE_FAIL"), again) == (0, 1, 0, 0)
    last = rows(store)[-1]
    assert (last["state"], last["submit"], last["nodes"]) == ("PENDING", at(3), None)
    assert record(store, again, ended(state="NODE_FAIL")) == (0, 0, 1, 0)


def test_what_a_text_leaves_out_is_not_forgotten(store):
    record(store, running(user_name="anna", group="20000"))
    assert record(store, ended(user=None, project=None, nodes=None)) == (0, 1, 0, 0)
    last = rows(store)[-1]
    assert (last["user"], last["project"], last["nodes"]) == ("10234", "project_7", "n1")
    assert (last["user_name"], last["group"], last["state"]) == ("anna", "20000", "COMPLETED")


def test_a_text_that_says_more_completes(store):
    record(store, ended(user=None))
    assert record(store, ended()) == (0, 1, 0, 0)
    assert rows(store)[-1]["user"] == "10234"


def test_later_rows_are_recorded_later_whatever_the_clock_says(store):
    record(store, waiting())
    record(store, running(), now_us=NOW - 10**12)
    first, second = rows(store)
    assert first["recorded"] < second["recorded"]
    assert second["state"] == "RUNNING"


def test_a_job_twice_in_one_run_has_an_order(store):
    recorder = JobRecorder(store, NOW)
    for jobs in ([running(1), running(2)], [ended(1), running(2)]):
        listed = [{"line": 1, **row} for row in jobs]
        recorder.record(pa.Table.from_pylist(listed, ALLOCATIONS))
    assert (recorder.counts.new, recorder.counts.updated, recorder.counts.unchanged) == (2, 1, 1)
    latest = store.query("SELECT arg_max(state, recorded) AS s FROM jobs WHERE job = '1'")
    assert latest["s"].to_pylist() == ["COMPLETED"]


@pytest.mark.parametrize(
    ("known", "stands"),
    [({"eligible": at(4), "start": at(5)}, at(4)), ({"start": at(5)}, at(5))],
)
def test_a_job_without_a_submit_time_takes_the_first_one_known(store, known, stands):
    recorder = JobRecorder(store, NOW)
    listed = [{"line": 1, "job": "1", "state": "FAILED", **known}]
    recorder.record(pa.Table.from_pylist(listed, ALLOCATIONS))
    assert recorder.counts.without_submit == 1
    assert rows(store)[0]["submit"] == stands


def test_a_job_without_any_time_stays_the_same_in_every_import(store):
    nothing = {"job": "1", "state": "PENDING"}
    assert record(store, nothing) == (1, 0, 0, 0)
    assert record(store, nothing, now_us=NOW + 10**9) == (0, 0, 1, 0)
    assert record(store, ended(submit=None), now_us=NOW + 10**9) == (0, 1, 0, 0)


def test_no_jobs_make_no_commit(store):
    assert record(store) == (0, 0, 0, 0)
    assert rows(store) == []
