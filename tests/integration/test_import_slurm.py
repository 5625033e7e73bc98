"""`pfscope import slurm` with real processes: the store knows every job as it really was."""

import gzip
import json
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from pfscope.logs.node_list import expand
from pfscope.store.embedded import open_store

HEADER = "JobID|User|UID|Account|State|Submit|Start|End|JobName"
JOB = "{id}|anna|10234|project_7|{state}|2022-10-27T00:00:00|2022-10-27T01:00:00|{end}|{name}"
LATEST = """
    SELECT * FROM jobs QUALIFY row_number() OVER (PARTITION BY job ORDER BY recorded DESC) = 1
    ORDER BY job
"""


def pfscope(*arguments, code=0, text=None):
    command = [sys.executable, "-m", "pfscope.cli.main", *map(str, arguments)]
    done = subprocess.run(command, input=text, capture_output=True, timeout=120)
    assert done.returncode == code, done.stderr
    assert not done.stdout
    return done.stderr.decode()


def jobs_in(data, sql=LATEST):
    with open_store(data, read_only=True) as store:
        return store.query(sql).to_pylist()


def job(number, state="COMPLETED", end="2022-10-27T02:00:00", name="run"):
    return JOB.format(id=number, state=state, end=end, name=name)


def text_of(*lines):
    return "".join(f"{line}\n" for line in lines)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    made = tmp_path_factory.mktemp("lab") / "site"
    pfscope("lab", "dump", made, "--hours", 2, "--seed", 5)
    return made


def test_every_job_of_the_truth_is_in_the_store(site, tmp_path):
    said = pfscope("import", "slurm", site / "slurm" / "sacct.txt", "--data", tmp_path / "data")
    truth = {row["job"]: row for row in pq.read_table(site / "truth" / "jobs.parquet").to_pylist()}
    found = {row["job"]: row for row in jobs_in(tmp_path / "data")}
    assert len(truth) > 50
    assert truth.keys() <= found.keys()
    assert said.startswith(f"{len(found)} jobs with ")
    same = ("user", "user_name", "project", "partition", "name", "array_job", "submit", "start")
    for number, true in truth.items():
        row = found[number]
        assert [row[name] for name in same] == [true[name] for name in same]
        assert row["array_task"] == (None if true["array_job"] is None else str(true["array_task"]))
        assert row["group"] == str(true["gid"])
        assert sorted(expand(row["nodes"])) == sorted(true["nodes"])
        assert row["node_count"] == len(true["nodes"])
        running = row["state"] == "RUNNING"
        assert row["end"] == (None if running else true["end"])
        assert row["state"] == ("RUNNING" if running else true["state"])
    assert {row["state"] for row in found.values()} > {"RUNNING", "COMPLETED"}


def test_again_adds_nothing(site, tmp_path):
    arguments = ("import", "slurm", site / "slurm" / "sacct.txt", "--data", tmp_path / "data")
    pfscope(*arguments)
    before = jobs_in(tmp_path / "data", "SELECT count(*) AS n FROM jobs")
    assert " 0 new, 0 updated, " in pfscope(*arguments)
    assert jobs_in(tmp_path / "data", "SELECT count(*) AS n FROM jobs") == before


def test_a_run_has_one_time_of_recording(site, tmp_path):
    pfscope("import", "slurm", site / "slurm" / "sacct.txt", "--data", tmp_path / "data")
    assert len(jobs_in(tmp_path / "data", "SELECT DISTINCT recorded FROM jobs")) == 1


def test_a_running_job_is_updated(tmp_path):
    first, second = tmp_path / "1.txt", tmp_path / "2.txt.gz"
    first.write_text(text_of(HEADER, job(1, "RUNNING", "Unknown"), job(2)))
    second.write_bytes(gzip.compress(text_of(HEADER, job(1), job(2), job(3)).encode()))
    pfscope("import", "slurm", first, "--data", tmp_path / "data")
    said = pfscope("import", "slurm", second, "--data", tmp_path / "data")
    assert said == "3 jobs with 0 steps: 1 new, 1 updated, 1 unchanged\n"
    assert [row["state"] for row in jobs_in(tmp_path / "data")] == ["COMPLETED"] * 3
    said = pfscope("import", "slurm", first, "--data", tmp_path / "data")
    assert said.endswith("0 new, 0 updated, 1 unchanged, 1 older than what is stored\n")


def test_standard_input_and_json(tmp_path):
    record = {"job_id": 7, "account": "project_7", "state": {"current": ["RUNNING"]},
              "time": {"submission": 1666828800, "start": 1666828800, "end": 0}}  # fmt: skip
    text = json.dumps({"jobs": [record]}).encode()
    pfscope("import", "slurm", "-", "--data", tmp_path / "data", text=text)
    (row,) = jobs_in(tmp_path / "data")
    assert (row["job"], row["project"], row["state"], row["end"]) == (
        "7", "project_7", "RUNNING", None,
    )  # fmt: skip


def test_without_a_header_and_in_another_zone(tmp_path):
    text = text_of(job(1)).encode()
    arguments = ("import", "slurm", "-", "--data", tmp_path / "data")
    assert "--noheader" in pfscope(*arguments, text=text, code=1)
    named = ("--fields", HEADER.replace("|", ","), "--time-zone", "Europe/Helsinki")
    pfscope(*arguments, *named, text=text)
    assert jobs_in(tmp_path / "data")[0]["start"].hour == 22


def test_what_is_not_understood_is_told_and_hides_nothing(tmp_path):
    text = text_of(HEADER, job(1), "rubbish", job(2, name="a|b"), job("x"), job(3, "?"))
    said = pfscope("import", "slurm", "-", "--data", tmp_path / "data", text=text.encode())
    assert said.splitlines() == [
        "standard input: line 3: fewer fields than columns",
        "standard input: line 5: no job id",
        "3 jobs with 0 steps: 3 new, 0 updated, 0 unchanged",
        "records left out: 1 × fewer fields than columns, 1 × no job id",
        "values not understood: 1 × state",
    ]
    assert [row["name"] for row in jobs_in(tmp_path / "data")] == ["run", "a|b", "run"]


def test_a_job_without_a_time_of_submission_is_told(tmp_path):
    text = b"JobID|Submit|Start\n1|Unknown|2022-10-27T01:00:00\n"
    said = pfscope("import", "slurm", "-", "--data", tmp_path / "data", text=text)
    assert "1 jobs without a time of submission" in said


def test_only_rubbish_is_a_failure(tmp_path):
    text = text_of(HEADER, "rubbish").encode()
    pfscope("import", "slurm", "-", "--data", tmp_path / "data", text=text, code=1)


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["nowhere.txt"], "cannot read nowhere.txt", 1),
        (["-", "--time-zone", "Mars"], "'Mars' is no time zone", 2),
        (["-", "--format", "json"], "standard input: this JSON is not what", 1),
    ],
)
def test_mistakes_are_told_in_one_line(tmp_path, arguments, message, code):
    text = text_of(HEADER, job(1)).encode()
    said = pfscope("import", "slurm", *arguments, "--data", tmp_path / "d", text=text, code=code)
    assert said.startswith(f"pfscope: {message}")
    assert said.count("\n") == 1


@pytest.mark.parametrize("wrong", [["nowhere.txt"], ["-", "--time-zone", "Mars"]])
def test_no_store_is_made_for_a_mistake(tmp_path, wrong):
    pfscope("import", "slurm", *wrong, "--data", tmp_path / "d", text=b"", code=1 + len(wrong) // 3)
    assert not (tmp_path / "d").exists()


def test_old_usage_is_not_made_older_by_new_jobs(tmp_path):
    """Retention counts from the latest frame, not from the jobs that are imported beside it."""
    site, data, config = tmp_path / "site", tmp_path / "data", tmp_path / "pfscope.toml"
    config.write_text("[retention]\nusage_mdt = 1\nusage_ost = 1\n")
    pfscope("lab", "dump", site, "--hours", 0.2)
    pfscope("import", "dumps", site, "--data", data, "--config", config)
    text = text_of(HEADER, job(1).replace("2022", "2026")).encode()
    pfscope("import", "slurm", "-", "--data", data, "--config", config, text=text)
    assert jobs_in(data, "SELECT count(*) AS n FROM usage_ost")[0]["n"] > 0
