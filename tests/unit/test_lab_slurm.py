import re
from dataclasses import replace

import pytest

from pfscope.lab.cluster import DEFAULT_START, Cluster, Options
from pfscope.lab.slurm import COLUMNS, node_list, sacct_text, span

NOW_S = DEFAULT_START.timestamp() + 3600


@pytest.fixture(scope="module")
def world():
    cluster = Cluster(Options())
    for _ in cluster.run(hours=0.05):
        pass
    return cluster.site, cluster.world.staging.jobs


@pytest.fixture(scope="module")
def rows(world):
    lines = sacct_text(*world, NOW_S).splitlines()
    assert tuple(lines[0].split("|")) == COLUMNS
    return [dict(zip(COLUMNS, line.split("|"), strict=True)) for line in lines[1:]]


def test_each_job_that_started_has_its_steps(rows):
    steps = {row["JobIDRaw"] for row in rows if "." in row["JobIDRaw"]}
    for row in rows:
        if "." in row["JobIDRaw"]:
            continue
        mine = {step.partition(".")[2] for step in steps
                if step.partition(".")[0] == row["JobIDRaw"]}  # fmt: skip
        script = "interactive" if row["Partition"] == "interactive" else "batch"
        assert mine == (set() if row["State"] == "PENDING" else {script, "extern", "0"})


def test_array_tasks_have_a_raw_id_of_their_own(rows):
    tasks = [row for row in rows if re.fullmatch(r"\d+_\d+", row["JobID"])]
    assert len(tasks) > 5
    assert all(task["JobIDRaw"] != task["JobID"].partition("_")[0] for task in tasks)


def test_who_runs_ends_at_unknown_and_who_waits_starts_there(rows):
    states = {row["State"] for row in rows}
    assert {"COMPLETED", "RUNNING"} <= states
    for row in rows:
        assert (row["End"] == "Unknown") == (row["State"] in ("RUNNING", "PENDING"))
        assert (row["Start"] == "Unknown") == (row["State"] == "PENDING")
        assert (row["NodeList"] == "None assigned") == (row["State"] == "PENDING")


def test_a_cancelled_job_tells_by_whom(world):
    site, jobs = world
    job = replace(next(j for j in jobs if j.end_s < NOW_S), state="CANCELLED")
    first, batch = sacct_text(site, [job], NOW_S).splitlines()[1:3]
    assert f"|CANCELLED by {site.users[job.user].uid}|" in first
    assert "|CANCELLED|" in batch


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "00:00:00"), (3661, "01:01:01"), (86_399, "23:59:59"), (90_061, "1-01:01:01")],
)
def test_durations_read_as_in_slurm(seconds, text):
    assert span(seconds) == text


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["r01c01"], "r01c01"),
        (["r01c01", "r01c02", "r01c03", "r01c07"], "r01c[01-03,07]"),
        (["r01c09", "r01c10", "r02c01"], "r01c[09-10],r02c01"),
        (["login"], "login"),
    ],
)
def test_nodes_are_compressed_as_in_slurm(names, text):
    assert node_list(names) == text
