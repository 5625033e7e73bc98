"""`pfscope top --batch`: rows from a directory and from a server, at once or as they come."""

import csv
import io
import json
import subprocess
import sys

import pytest

from pfscope.cli.main import main
from pfscope.config import Config
from pfscope.server.engine import Engine
from pfscope.server.limits import Limits
from tests.support.query_store import HOSTILE, T2, make_store
from tests.support.query_tables import frames_at, used
from tests.support.server_world import server
from tests.support.store_rows import MINUTE_US, table

HEAD = "time,user,load,share,iops,metadata,bytes,read_bytes,write_bytes"
T3 = T2 + 2 * MINUTE_US


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("store"))


def said(capsys, *arguments):
    code = main(["top", "--batch", *map(str, arguments)])
    told = capsys.readouterr()
    assert code == 0, told.err
    return told.out


def refused(capsys, *arguments):
    code = main(["top", *map(str, arguments)])
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    return code, told.err


def test_csv_is_a_contract(directory, capsys):
    lines = said(capsys, "--data", directory, "--format", "csv").splitlines()
    assert lines == [HEAD, "2022-10-27T00:04:00Z,1001,,1.0,2.0,4.0,0.0,0.0,0.0"]


def test_json_has_the_same_names(directory, capsys):
    rows = json.loads(said(capsys, "--data", directory, "--at=-2m", "--format", "json"))
    assert [row["user"] for row in rows] == ["1001", "1002", "0", "1001"]
    assert ",".join(rows[0]) == HEAD


def test_a_table_is_for_people(directory, capsys):
    text = said(capsys, "--data", directory, "--at=-2m", "-n", 1, "--format", "table", "--sort",
                "read_bytes")  # fmt: skip
    assert text.startswith("2022-10-27T00:02:00Z\nuser")
    assert "1 MB" in text
    assert "100.0%" in text


def test_recorded_observations_follow_each_other_to_the_newest(directory, capsys):
    lines = said(capsys, "--data", directory, "--at=-2m", "--format", "csv").splitlines()
    assert [line[:20] for line in lines[1:]] == ["2022-10-27T00:02:00Z"] * 3 + [
        "2022-10-27T00:04:00Z"
    ]


def test_filters_and_columns_are_as_asked(directory, capsys):
    text = said(capsys, "--data", directory, "--at=-2m", "-n", 1, "--by", "user,node", "--user",
                "100*", "--user", "!1001", "--columns", "open,read,share", "--sort", "open",
                "--format", "csv")  # fmt: skip
    assert (
        text == "time,user,node,open,read,share\n2022-10-27T00:02:00Z,1002,r01c02,0.5,0.25,0.3125\n"
    )


def test_hostile_names_are_csv_and_no_formula(directory, capsys):
    text = said(capsys, "--data", directory, "--at=-2m", "-n", 1, "--by", "executable", "--format",
                "csv")  # fmt: skip
    names = [row["executable"] for row in csv.DictReader(io.StringIO(text))]
    assert f"'{HOSTILE}" in names


def test_hostile_names_reach_no_terminal(directory, capsys):
    text = said(capsys, "--data", directory, "--at=-2m", "-n", 1, "--by", "executable", "--format",
                "table")  # fmt: skip
    assert "\x1b" not in text
    assert "\\x1B" in text


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--batch", "--sort", "opne"], 2, "there is no column 'opne'; known: load"),
        (["--batch", "--columns", "opne"], 2, "there is no column 'opne'; known: load"),
        (["--batch", "--by", "usr"], 2, "did you mean 'user'"),
        (["--batch", "--at", "later"], 2, "is no time"),
        (["--batch", "--over", "3h"], 2, "10m at most"),
        (["--batch", "-n", "0"], 2, "1 at least"),
        (["-n", "3"], 2, "-n goes with --batch"),
        ([], 2, "use --batch"),
        (["--batch", "--at", "2021-01-01"], 1, "nothing was observed"),
    ],
)
def test_nonsense_is_told_in_one_line(directory, capsys, arguments, code, text):
    found, err = refused(capsys, "--data", directory, *arguments)
    assert (found, text in err) == (code, True), err


def test_nobody_at_the_usual_place_is_told_with_what_to_do(capsys, monkeypatch):
    monkeypatch.setattr("pfscope.cli.top.USUAL_SERVER", "http://127.0.0.1:9")
    code, err = refused(capsys, "--batch")
    assert code == 1
    assert "does not answer" in err
    assert "pfscope serve --data DIR" in err


@pytest.fixture
def world(tmp_path):
    engine = Engine.open(make_store(tmp_path), Config(), Limits())
    with server(tmp_path, engine=engine) as world:
        yield world


def observe(world, opened):
    frames = {"usage_mdt": [used(1, T2, T3, opened)], "frames": frames_at(T3, server="mds1")}
    world.engine.store.commit({name: table(name, rows) for name, rows in frames.items()}, [])


def test_a_server_says_what_the_directory_does(world, capsys):
    text = said(
        capsys, "--server", world.url, "-n", 1, "--at=-2m", "--format", "csv", "--by", "job"
    )
    assert text.splitlines()[1].startswith("2022-10-27T00:02:00Z,70,")


def test_what_is_pushed_is_printed_when_it_comes(world):
    command = [sys.executable, "-m", "pfscope.cli.main", "top", "--batch", "--server", world.url,
               "-n", "2", "--format", "csv", "--sort", "open"]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == f"{HEAD}\n"
        assert ",1001," in process.stdout.readline()
        observe(world, 60)
        assert ",1002," in process.stdout.readline()
        assert process.stdout.read() == ""
        assert process.wait(20) == 0


def test_it_loads_neither_the_window_nor_what_computes(world):
    statement = (
        "import sys\nfrom pfscope.cli.main import main\n"
        f"main(['top', '--batch', '-n', '1', '--format', 'csv', '--server', {world.url!r}])\n"
        "print(*{m.partition('.')[0] for m in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", statement], capture_output=True, text=True)
    assert ",1001," in done.stdout
    loaded = set(done.stdout.splitlines()[-1].split())
    assert not loaded & {"textual", "rich", "ibis", "pyarrow", "numpy", "duckdb"}
