"""`pfscope incidents`: over the past of a directory, from a server, in Python; all the same."""

import csv
import io
import json

import pytest

import pfscope
from pfscope.cli.main import main
from pfscope.config import Config
from pfscope.errors import InputError, UsageError
from pfscope.server.engine import Engine
from pfscope.server.limits import Limits
from pfscope.watch.book import Book
from pfscope.watch.written import COLUMNS, SCHEMA
from tests.support import alert_world, watch_site
from tests.support.server_world import MemoryStore, server

HOSTILE = '=x"><script>\x1b[2J\n'


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return watch_site.make_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def data(directory):
    with pfscope.open(directory) as data:
        yield data


@pytest.fixture(scope="module")
def found(data):
    result = data.incidents(start="2022-10-27")
    assert result.table.schema == SCHEMA
    (row,) = result.to_pylist()
    return row


def said(capsys, *arguments):
    code = main(["incidents", *map(str, arguments)])
    told = capsys.readouterr()
    assert code == 0, told.err
    return told.out


def test_the_incident_is_found_with_its_culprit(found):
    assert found["causes"][0]["user"] == watch_site.CULPRIT
    assert found["causes"][0]["job"] == watch_site.JOB
    assert found["targets"] == [watch_site.TARGET]
    assert found["state"] == "ended"
    assert abs(found["start"].timestamp() * 1e6 - watch_site.minute_us(watch_site.BEGIN)) < 60e6
    assert f"user {watch_site.CULPRIT}" in found["advice"]["admin"]


def test_json_has_the_columns_and_causes_as_objects(directory, capsys, found):
    (row,) = json.loads(said(capsys, "--data", directory, "--from", "2022-10-27", "--format=json"))
    assert tuple(row) == COLUMNS
    assert (row["id"], row["causes"]) == (found["id"], found["causes"])
    assert row["start"].endswith("Z")


def test_csv_can_be_read_back(directory, capsys, found):
    text = said(capsys, "--data", directory, "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(text))
    assert tuple(row) == COLUMNS
    assert json.loads(row["causes"]) == found["causes"]
    assert row["targets"] == watch_site.TARGET


def test_a_table_names_who_and_where(directory, capsys, found):
    text = said(capsys, "--data", directory, "--format", "table")
    (line,) = [line for line in text.splitlines() if found["id"] in line]
    assert f"user {watch_site.CULPRIT}, job {watch_site.JOB}" in line


def test_one_incident_with_its_evidence_and_commands_to_paste(directory, capsys, found):
    text = said(capsys, found["id"], "--data", directory, "--format", "table")
    assert f"\n  scontrol show job {watch_site.JOB}\n" in text
    assert "evidence" in text
    plain = json.loads(said(capsys, found["id"], "--data", directory, "--format", "json"))
    assert plain["evidence"]["ending"] == "it was over after 20 min"
    assert plain["evidence"]["data"] == "100% of the entries have a sound id"
    assert plain["advice"] == found["advice"]


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ({"start": "2022-10-27T02:30", "end": "2022-10-27T03:00"}, 0),
        ({"start": "2022-10-27T02:10", "end": "2022-10-27T02:15"}, 1),
        ({"user": "100*"}, 1), ({"user": "1001*"}, 0), ({"severity": "critical"}, 1),
        ({"state": "ongoing"}, 0), ({"filesystem": "home"}, 0), ({"kind": "*"}, 1),
    ],
)  # fmt: skip
def test_what_is_wanted_is_chosen(data, words, count):
    assert len(data.incidents(**words)) == count


@pytest.mark.parametrize(
    "words", [{"severity": "bad"}, {"state": "x"}, {"start": "later"}, {"start": "now"}]
)
def test_nonsense_is_told(data, words):
    with pytest.raises(UsageError):
        data.incidents(**words)


@pytest.mark.parametrize("name", ["x", "../../etc", "20221027T0830-zzzzzz"])
def test_what_is_no_id_is_told(data, name):
    with pytest.raises(UsageError, match="no incident's id"):
        data.incident(name)


def test_an_id_of_nothing_is_told(data):
    with pytest.raises(InputError, match="there is no incident"):
        data.incident("20221027T0830-abcdef")


def test_an_empty_store_is_told(tmp_path):
    Engine.open(tmp_path, Config(), Limits()).close()
    with pfscope.open(tmp_path) as data, pytest.raises(InputError, match="nothing was observed"):
        data.incidents()


@pytest.fixture
def world(tmp_path):
    book = Book(tmp_path)
    book.keep(alert_world.incident(id="20221027T0030-abcdef"))
    book.keep(alert_world.incident(
        id="20221027T0031-abcdef", kind="hot_file",
        causes=(pfscope_cause(HOSTILE),), targets=(HOSTILE,),
    ))  # fmt: skip
    with server(tmp_path, store=MemoryStore(tmp_path)) as world:
        yield world


def pfscope_cause(name):
    from pfscope.watch.model import Cause

    return Cause(name, name, name, name, 1.0, 1.0)


def test_a_server_tells_what_it_saw(world, capsys):
    text = said(capsys, "--server", world.url, "--from", "2022-10-27", "--format", "json")
    rows = json.loads(text)
    assert [row["kind"] for row in rows] == ["metadata_storm", "hot_file"]
    assert rows[1]["causes"][0]["user"] == HOSTILE
    with pfscope.open(world.url) as data:
        assert data.incidents(start="2022-10-27", kind="hot*").to_pylist()[0]["targets"] == [
            HOSTILE
        ]
        assert data.incident("20221027T0030-abcdef")["evidence"] == {"latency": "3 times as usual"}


@pytest.mark.parametrize("arguments", [(), ("20221027T0031-abcdef",)])
def test_hostile_names_reach_no_terminal(world, capsys, arguments):
    text = said(
        capsys, *arguments, "--server", world.url, "--from", "2022-10-27", "--format", "table"
    )
    assert "\x1b" not in text
    assert "\\x1B" in text


def test_somebody_takes_care(world, tmp_path, capsys):
    name = "20221027T0030-abcdef"
    said(capsys, name, "--server", world.url, "--acknowledge", "calling her", "--author", "anna")
    told = said(capsys, name, "--server", world.url, "--format", "table")
    assert "anna: calling her" in told
    assert Book(tmp_path).get(name)["acknowledged"]["author"] == "anna"
    silences = json.loads((tmp_path / "alerts" / "silences.json").read_text())["silences"]
    assert [s["matchers"] for s in silences] == [{"incident": [name]}]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1/incidents?severity=bad", 400),
        ("/api/v1/incidents?from=-1h&from=-2h", 400),
        ("/api/v1/incidents/20221027T0030-000000", 404),
        ("/api/v1/incidents/..%2f..%2fstore", 404),
    ],
)
def test_what_is_not_there_is_refused(world, path, status):
    assert world.client.get(path).status_code == status


def test_a_damaged_record_hides_no_other(world, tmp_path):
    (tmp_path / "incidents" / "20221027T0032-abcdef.json").write_text("{")
    assert len(Book(tmp_path).all()) == 2
