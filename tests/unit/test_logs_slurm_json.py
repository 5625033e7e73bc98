"""What `sacct --json` prints, in the shapes of several releases; and JSON that is damaged."""

import json
from datetime import UTC, datetime

import pytest

from pfscope.errors import InputError
from pfscope.logs.slurm import Defects, iter_sacct

START, END = 1666828800, 1666832400


def number(value):
    return {"set": True, "infinite": False, "number": value}


OLD = {
    "account": "project_7", "allocation_nodes": 2, "cluster": "puhti", "group": "users",
    "array": {"job_id": 120, "task_id": 4, "task": None}, "het": {"job_id": 0, "job_offset": None},
    "association": {"account": "project_7", "user": "anna"},
    "exit_code": {"status": "ERROR", "return_code": 1}, "job_id": 125,
    "name": "two\nlines|caf\u00e9", "nodes": "r01c[01-02]", "partition": "small",
    "qos": "normal", "user": "anna", "kill_request_user": None,
    "state": {"current": "FAILED", "reason": "None"},
    "time": {"elapsed": 3600, "eligible": START, "start": START, "end": END, "submission": START,
             "limit": 60},
    "tres": {"allocated": [{"type": "cpu", "name": None, "id": 1, "count": 80},
                           {"type": "mem", "name": None, "id": 2, "count": 4000},
                           {"type": "gres", "name": "gpu", "id": 1001, "count": 2}]},
    "steps": [{
        "state": "FAILED", "nodes": {"count": 1, "range": "r01c01"}, "tasks": {"count": 8},
        "exit_code": {"status": "SIGNALED", "return_code": 0, "signal": {"signal_id": 9}},
        "step": {"job_id": 125, "id": "batch", "name": "batch"},
        "time": {"elapsed": 60, "start": START, "end": END,
                 "total": {"seconds": 125, "microseconds": 500000}},
        "tres": {"requested": {"max": [{"type": "mem", "name": "", "count": 4096}],
                               "average": [{"type": "fs", "name": "disk", "count": 77}]},
                 "consumed": {"average": [{"type": "fs", "name": "disk", "count": 88}]}},
    }],
}  # fmt: skip
NEW = OLD | {
    "array": {"job_id": 120, "task_id": number(4), "task": ""},
    "het": {"job_id": 0, "job_offset": {"set": False, "infinite": False, "number": 0}},
    "exit_code": {"status": ["ERROR"], "return_code": number(1),
                  "signal": {"id": {"set": False, "infinite": False, "number": 0}, "name": ""}},
    "state": {"current": ["FAILED"], "reason": "None"},
    "time": OLD["time"] | {"limit": number(60)},
    "steps": [OLD["steps"][0] | {
        "state": ["FAILED"], "step": {"id": "125.batch", "name": "batch"},
        "exit_code": {"status": ["SIGNALED"], "return_code": number(0),
                      "signal": {"id": number(9), "name": "KILL"}},
    }],
}  # fmt: skip


def read(text, size=1000, **options):
    raw = text if isinstance(text, bytes) else text.encode()
    jobs, steps, defects = [], [], Defects()
    for batch in iter_sacct((raw[i : i + size] for i in range(0, len(raw), size)), **options):
        jobs += batch.allocations.to_pylist()
        steps += batch.steps.to_pylist()
        defects.extend(batch.defects)
    return jobs, steps, defects


def read_jobs(*jobs, **options):
    return read(json.dumps({"meta": {"n": 1}, "jobs": jobs, "errors": []}), **options)


def time(seconds):
    return datetime.fromtimestamp(seconds, UTC)


@pytest.mark.parametrize("record", [OLD, NEW], ids=["plain values", "set, infinite, number"])
def test_a_job_and_its_step_in_full(record):
    (job,), (step,), defects = read_jobs(record)
    assert {name: value for name, value in job.items() if value is not None} == {
        "line": 1, "job": "125", "array_job": "120", "array_task": "4", "cluster": "puhti",
        "user_name": "anna", "group_name": "users", "project": "project_7", "partition": "small",
        "qos": "normal", "name": r"two\x0Alines|caf\xC3\xA9", "nodes": "r01c[01-02]",
        "node_count": 2, "cpus": 80, "submit": time(START), "eligible": time(START),
        "start": time(START), "end": time(END), "elapsed_s": 3600, "time_limit_s": 3600,
        "state": "FAILED", "exit_code": 1, "exit_signal": 0, "tres": "cpu=80,mem=4000M,gres/gpu=2",
    }  # fmt: skip
    assert {name: value for name, value in step.items() if value is not None} == {
        "line": 1, "job": "125", "step": "batch", "name": "batch", "nodes": "r01c01",
        "node_count": 1, "tasks": 8, "start": time(START), "end": time(END), "elapsed_s": 60,
        "cpu_s": 125.5, "state": "FAILED", "exit_code": 0, "exit_signal": 9,
        "max_rss_bytes": 4096, "mean_read_bytes": 77, "mean_write_bytes": 88,
    }  # fmt: skip
    assert not defects


def test_who_waits_has_no_times():
    waiting = {"start": 0, "end": 0, "submission": START, "limit": {"set": False, "infinite": True}}
    array = {"job_id": 120, "task_id": {"set": False}, "task": "5-9%2"}
    (job,), _, defects = read_jobs(
        {"job_id": 120, "array": array, "state": {"current": ["PENDING"]}, "time": waiting,
         "nodes": "None assigned"}
    )  # fmt: skip
    assert (job["array_task"], job["state"], job["nodes"]) == ("[5-9%2]", "PENDING", None)
    assert (job["submit"], job["start"], job["end"]) == (time(START), None, None)
    assert job["time_limit_s"] is None
    assert not defects


def test_parts_of_a_heterogeneous_job():
    (job,), _, _ = read_jobs({"job_id": 71, "het": {"job_id": 70, "job_offset": number(1)}})
    assert (job["job"], job["het_job"], job["het_offset"]) == ("71", "70", "1")


def test_who_cancelled():
    state = {"current": ["CANCELLED", "REQUEUED"]}
    (job,), _, _ = read_jobs({"job_id": 1, "state": state, "kill_request_user": "b|\u202e"})
    assert (job["state"], job["canceller"]) == ("CANCELLED", r"b|\xE2\x80\xAE")


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_pieces_of_any_size(size):
    text = json.dumps({"meta": 1234, "jobs": [OLD, NEW]}, indent=1, ensure_ascii=False)
    jobs, steps, defects = read(text, size)
    assert [job["line"] for job in jobs] == [1, 2]
    assert len(steps) == 2
    assert not defects


def test_a_list_of_jobs_without_anything_around_it():
    jobs, _, _ = read(json.dumps([OLD]))
    assert jobs[0]["job"] == "125"


def test_what_is_no_job_is_counted_and_passed_by():
    jobs, steps, defects = read_jobs(3, None, {"job_id": []}, {"steps": [3]}, OLD)
    assert [job["job"] for job in jobs] == ["125"]
    assert len(steps) == 1
    assert defects.rejected == {"no job, but another kind of JSON": 2, "no job id": 3}


@pytest.mark.parametrize(
    "wrong",
    [
        {"time": 3}, {"time": {"start": "soon"}}, {"state": [[]]}, {"steps": 7}, {"array": [1]},
        {"tres": {"allocated": {"count": 1}}}, {"nodes": {"a": "b"}}, {"exit_code": None},
        {"time": {"start": 10**30}}, {"name": "\ud800"}, {"allocation_nodes": -1},
        {"time": {"start": 1.5, "end": float("nan")}}, {"name": True},
    ],
)  # fmt: skip
def test_values_of_another_kind_cost_the_value_alone(wrong):
    jobs, _, _ = read_jobs({"job_id": 1, "account": "project_7"} | wrong, OLD)
    assert [(job["job"], job["project"]) for job in jobs] == [
        ("1", "project_7"), ("125", "project_7"),
    ]  # fmt: skip


@pytest.mark.parametrize("cut", [-2, -20, -400])
def test_jobs_before_the_damage_are_read(cut):
    text = json.dumps({"jobs": [NEW, OLD, OLD]})[:cut]
    jobs, _, defects = read(text)
    assert len(jobs) >= 2
    assert sum(defects.rejected.values()) == 1
    assert "damaged or cut off" in defects.first[0].reason


@pytest.mark.parametrize(
    "rubbish", [b"}", b"\xff\xff", b"[" * 100_000, b'{"job_id": 1' + b"0" * 9999]
)
def test_rubbish_among_the_jobs_ends_the_reading_quietly(rubbish):
    text = b'{"jobs": [' + json.dumps(OLD).encode() + b"," + rubbish + b"]}"
    jobs, _, defects = read(text)
    assert [job["job"] for job in jobs] == ["125"]
    assert sum(defects.rejected.values()) == 1


def test_a_value_too_large_for_memory_ends_the_reading(monkeypatch):
    monkeypatch.setattr("pfscope.logs.slurm_json_stream.VALUE_LIMIT", 5000)
    pieces = 0

    def chunks():
        nonlocal pieces
        yield b'{"jobs": [' + json.dumps(OLD).encode() + b', {"name": "'
        for _ in range(1000):
            pieces += 1
            yield b"x" * 1000

    jobs = [job for batch in iter_sacct(chunks()) for job in batch.allocations.to_pylist()]
    assert [job["job"] for job in jobs] == ["125"]
    assert pieces < 50


def test_bytes_that_are_no_utf8():
    text = b'{"jobs": [{"job_id": 1, "name": "\xff\xe9"}]}'
    assert read(text)[0][0]["name"] == r"\xFF\xE9"


@pytest.mark.parametrize(
    "text", ['{"4478544.0": {"start": "2017"}}', "{}", '{"jobs": {}}', "[", "{"]
)
def test_json_of_something_else_is_refused(text):
    if text == "[":
        assert read(text)[2].rejected
        return
    with pytest.raises(InputError, match="no list of jobs"):
        read(text)


def test_the_form_can_be_told():
    with pytest.raises(InputError, match="no list of jobs"):
        read("JobID|User\n1|anna\n", form="json")


def test_no_jobs_at_all():
    assert read_jobs()[:2] == ([], [])
