"""Rows that real clusters printed, anonymised; the fixtures of the other tests say the same."""

from pathlib import Path

import pytest

from pfscope.errors import InputError
from pfscope.logs.node_list import expand
from pfscope.logs.slurm import Defects, iter_sacct

SAMPLES = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "slurm"
FIELDS = [
    "JobID", "JobIDRaw", "Cluster", "Partition", "QOS", "Account", "Group", "GID", "User", "UID",
    "Submit", "Eligible", "Start", "End", "Elapsed", "ExitCode", "State", "NNodes", "NCPUS",
    "ReqCPUS", "ReqMem", "ReqTRES", "AllocTRES", "Timelimit", "NodeList", "JobName",
]  # fmt: skip

pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="real samples are not on this machine")


def read(name, **options):
    jobs, steps, defects = [], [], Defects()
    for batch in iter_sacct([(SAMPLES / name).read_bytes()], **options):
        jobs += batch.allocations.to_pylist()
        steps += batch.steps.to_pylist()
        defects.extend(batch.defects)
    return jobs, steps, defects


def test_a_day_of_a_cluster():
    jobs, steps, defects = read("pozidriv.log", fields=FIELDS)
    assert (len(jobs), len(steps), bool(defects)) == (11_704, 0, False)
    for job in jobs:
        assert job["user"].isdigit()
        assert job["project"]
        assert len(expand(job["nodes"] or "")) == (job["node_count"] if job["nodes"] else 0)
        assert (job["end"] - job["start"]).total_seconds() == job["elapsed_s"]
    cancelled = [job for job in jobs if job["state"] == "CANCELLED"]
    assert cancelled
    assert all(job["canceller"].isdigit() for job in cancelled)


def test_array_tasks():
    jobs, _, defects = read("accounting-logs-with-job-arrays.log", fields=FIELDS)
    assert {job["array_job"] for job in jobs} == {"4103947"}
    assert {"100", "[1-3]", "[1,5]"} <= {job["array_task"] for job in jobs}
    assert all(len(expand(job["nodes"])) == job["node_count"] for job in jobs)
    assert not defects


def test_jobs_that_have_not_ended():
    running, pending = read("non-ended-job-state.log", fields=FIELDS)[0]
    assert (running["state"], running["end"]) == ("RUNNING", None)
    assert (pending["state"], pending["start"], pending["end"]) == ("PENDING", None, None)


def test_a_name_of_several_bytes():
    (job,), _, _ = read("utf8-multibyte-chars.log", fields=FIELDS)
    assert job["name"] == r"a\xC3\xA0b"


@pytest.mark.parametrize("name", ["test-data1.csv", "test-data2.csv"])
def test_jobs_with_steps(name):
    jobs, steps, defects = read(name)
    assert (len(jobs), len(steps), bool(defects)) == (2, 3, False)
    assert {step["step"] for step in steps} >= {"batch", "0"}


@pytest.mark.parametrize("name", ["test-data3.csv", "sample.slurm"])
def test_what_sacct_did_not_print_is_refused(name):
    with pytest.raises(InputError):
        read(name)
