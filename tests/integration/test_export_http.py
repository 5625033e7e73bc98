"""`pfscope export --server`: the same files from a running server as from its directory."""

import pyarrow.parquet as pq
import pytest

from pfscope.cli.main import main
from pfscope.config import Config
from pfscope.server.engine import Engine
from pfscope.server.limits import Limits
from pfscope.server.tokens import TokenFile
from tests.support.query_store import make_store
from tests.support.server_world import server

PATH = "/api/v1/export"


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("local"))


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    directory = make_store(tmp_path_factory.mktemp("served"))
    with server(directory, engine=Engine.open(directory, Config(), Limits())) as world:
        yield world


def contents(out):
    return {str(path.relative_to(out)): path for path in out.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--wide", "--table", "usage_mdt"],
        ["--from", "2022-10-27T10:00", "--to", "2022-10-27T10:02"],
        ["--format", "csv"],
        ["--from", "2023-01-01"],
    ],
)
def test_a_server_gives_the_files_of_its_directory(local, world, tmp_path, words):
    assert main(["export", "--data", str(local), str(tmp_path / "local"), *words]) == 0
    assert main(["export", "--server", world.url, str(tmp_path / "served"), *words]) == 0
    mine, theirs = contents(tmp_path / "local"), contents(tmp_path / "served")
    assert mine.keys() == theirs.keys()
    for name, path in mine.items():
        if name.endswith("csv"):
            assert theirs[name].read_bytes() == path.read_bytes()
        else:
            assert pq.read_table(theirs[name]).equals(pq.read_table(path))


def test_there_is_something_to_compare(local, tmp_path):
    assert main(["export", "--data", str(local), str(tmp_path / "out")]) == 0
    assert sum(pq.read_metadata(p).num_rows for p in (tmp_path / "out").rglob("usage*/*/*")) == 5


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("?table=nothing", 400),
        ("?from=yesterday", 400),
        ("?wide=maybe", 400),
        ("?format=xml", 400),
        ("?format=csv&format=csv", 400),
        ("?usr=1", 400),
        ("/rows", 404),
        ("/rows?file=../../store.duckdb", 404),
        ("/rows?file=usage_mdt/day%3D2001-01-01/part-0.parquet", 404),
    ],
)
def test_what_makes_no_sense_is_refused(world, words, status):
    answer = world.client.get(PATH + words)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]


def test_who_may_not_read_gets_nothing(tmp_path):
    directory = make_store(tmp_path)
    sender = TokenFile(directory).add("oss1", ("oss1",))
    with server(directory, engine=Engine.open(directory, Config(), Limits())) as world:
        for path in (PATH, f"{PATH}/rows?file=operations/part-0.parquet"):
            assert world.client.get(path).status_code == 401
            header = {"Authorization": f"Bearer {sender}"}
            assert world.client.get(path, headers=header).status_code == 403
