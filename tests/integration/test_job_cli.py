"""`pfscope job`: one job in plain words and as data, from a directory and from a server alike."""

import contextlib
import csv
import io
import json

import pytest

import pfscope
from pfscope.cli.job import print_job
from pfscope.cli.job_page import job_text
from pfscope.cli.main import main
from pfscope.config import Config
from pfscope.server.engine import Engine
from pfscope.server.limits import Limits
from pfscope.watch.job import job_told
from tests.support import watch_site
from tests.support.query_store import HOSTILE, ROWS, make_store
from tests.support.server_world import server

COLUMNS = "operation,unit,total,rate_mean,rate_max,share"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return watch_site.make_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Two tasks of an array."""
    series = [dict(row) for row in ROWS["series"]]
    series[0] |= {"job": "120_1", "array_job": "120"}
    series[1] |= {"job": "120_2", "array_job": "120"}
    series[2] |= {"job": "120_2", "array_job": "120"}
    return make_store(tmp_path_factory.mktemp("small"), series=series)


def said(*arguments):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(["job", *map(str, arguments)]) == 0
    return out.getvalue()


@pytest.fixture(scope="module")
def told(small):
    """One job of the small store as data."""
    return json.loads(said("120_2", "--data", small, "--format", "json"))


@pytest.fixture(scope="module")
def page(site):
    """The culprit's job in words."""
    return said(watch_site.JOB, "--data", site, "--incidents", "--format", "table")


@pytest.mark.parametrize(
    "line",
    [
        "user        1002", "nodes       r01c02 (100.0%)", "targets     scratch-MDT0000 (100.0%)",
        "when        2022-10-27T02:00:00Z to 2022-10-27T02:20:00Z (20 min)",
        "did         2.4 M requests: 2 k/s in the mean, 2 k/s at most, 99.5% of scratch",
        "looks like  metadata storm: 100% of its requests open, close or look up files",
        "advice      The job opens and closes files again and again.",
        "open                2.4 M      2 k/s      2 k/s  ██",
    ],
)  # fmt: skip
def test_the_page_says_who_where_when_what_and_what_to_do(page, line):
    assert line in page


def test_the_page_names_the_incident_it_caused(page):
    assert "critical, " in page.split("incidents ")[1].splitlines()[0]
    assert "on scratch-MDT0000" in page


def test_a_job_that_does_little_gets_no_advice(told):
    little = [{**row, "share": 0.005} for row in told["shares"]]
    text = job_text({**told, "shares": little})
    assert "advice      none: it is 0.5% of a file system at most" in text
    assert "incidents   not looked for" in text


def test_numbers_are_those_of_the_questions(small, told):
    job = told
    assert (job["start"], job["end"]) == ("2022-10-27T00:00:00Z", "2022-10-27T00:02:00Z")
    with pfscope.open(small) as data:
        (top,) = data.top(by="job", operation="open", job="120_2", end=job["end"]).to_pylist()
    (opened,) = [row for row in job["operations"] if row["operation"] == "open"]
    assert (opened["total"], opened["rate_mean"]) == (top["total"], top["rate_mean"]) == (60, 0.5)
    shares = {row["metric"]: row["share"] for row in job["shares"]}
    assert shares["bytes"] == 1.0
    assert shares["metadata"] == pytest.approx(60 / 192)
    assert sum(row["rate"] for row in job["series"] if row["operation"] == "open") == (
        pytest.approx(0.5 * 60)
    )
    assert [row["mean_size"] for row in job["sizes"]] == [4e6]
    assert job["incidents"] is None


def test_an_array_is_all_of_its_tasks(small):
    with pfscope.open(small) as data:
        array = job_told(data, "120")
    assert (array["is_array"], array["tasks"]) == (True, ["120_1", "120_2"])
    assert sorted(array["users"]) == ["1001", "1002"]
    assert "an array of which 2 tasks" in job_text({**array, "incidents": []})


def test_csv_is_a_contract(told, capsys):
    print_job(told, "csv")
    text = capsys.readouterr().out
    assert text.splitlines()[0] == COLUMNS
    rows = {row["operation"]: row for row in csv.DictReader(io.StringIO(text))}
    assert set(rows) == {"open", "read", "read_bytes"}
    assert (rows["read_bytes"]["unit"], float(rows["read_bytes"]["total"])) == ("bytes", 12e7)


def test_an_unknown_job_is_told_with_those_that_are_near(small, capsys):
    assert main(["job", "120_3", "--data", str(small)]) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "did you mean 120_" in err


def test_an_id_is_no_pattern(small, capsys):
    assert main(["job", "120*", "--data", str(small)]) == 1
    assert "did nothing" in capsys.readouterr().err


def test_hostile_names_reach_no_terminal(told):
    text = job_text({**told, "job": HOSTILE, "users": [HOSTILE], "kind": HOSTILE,
                     "nodes": [{"node": HOSTILE, "share": 1.0}]})  # fmt: skip
    assert "\x1b" not in text
    assert text.count("\\x1B[31m") == 4


def test_a_server_says_the_same(small, told):
    engine = Engine.open(small, Config(), Limits())
    with server(small, engine=engine) as world:
        after = json.loads(said("120_2", "--server", world.url, "--format", "json"))
    assert after == {**told, "incidents": []}
