"""Questions to a server: the same answers as from its directory, in every format, within bounds."""

import io
import json
import threading
from contextlib import suppress

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pfscope
from pfscope.config import Config
from pfscope.errors import InputError, UsageError
from pfscope.query.written import about_text
from pfscope.server import run
from pfscope.server.engine import Engine
from pfscope.server.limits import Limits
from pfscope.server.tokens import Gate, TokenFile
from pfscope.store.patience import OutOfPatienceError
from tests.support.query_store import make_store
from tests.support.server_world import MemoryStore, server

TOP = "/api/v1/query/top"
ENDLESS = "SELECT count(*) AS n FROM range(900000) a, range(900000) b WHERE a.range + b.range < 0"
WORDS = [
    ("totals", {}),
    ("series", {"by": ["user", "target"], "operation": "open", "step": "1m"}),
    ("series", {"by": "operation", "step": "observed"}),
    ("top", {"by": "user", "start": "-2m", "limit": 1}),
    ("top", {"user": ["1001", "café"], "system": False}),
    ("top", {"user": "nobody"}),
    ("density", {"bucket": 1.5}),
    ("quality", {}),
]
NONSENSE = [
    ("top", {"by": "usr"}, UsageError),
    ("top", {"operation": "opne"}, UsageError),
    ("series", {"start": "2022-10-28", "end": "2022-10-27"}, UsageError),
    ("nonsense", {}, UsageError),
]


def serving(directory, limits=None, **more):
    engine = Engine.open(directory, Config(), limits or Limits())
    return server(directory, engine=engine, **more)


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    with pfscope.open(make_store(tmp_path_factory.mktemp("local"))) as data:
        yield data


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with serving(make_store(tmp_path_factory.mktemp("served"))) as world:
        yield world


@pytest.fixture
def remote(world):
    with pfscope.open(world.url) as data:
        yield data


@pytest.mark.parametrize(("name", "words"), WORDS)
def test_a_server_answers_as_its_directory_does(local, remote, name, words):
    here, there = local.ask(name, **words), remote.ask(name, **words)
    assert there.table.equals(here.table, check_metadata=True)
    assert there.about == json.loads(about_text(here.about))


@pytest.mark.parametrize(("name", "words", "kind"), NONSENSE)
def test_and_refuses_the_same_in_the_same_words(local, remote, name, words, kind):
    said = []
    for data in (local, remote):
        with pytest.raises(kind) as caught:
            data.ask(name, **words)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_an_empty_store_says_so(tmp_path):
    with serving(tmp_path) as world, pytest.raises(InputError, match="nothing was observed"):
        pfscope.open(world.url).top()


def test_every_format_has_the_same_rows(world):
    get = world.client.get
    told = get(TOP, params={"by": "user"}).json()
    assert told["columns"] == ["rank", "user", "rate_mean", "rate_max", "total", "share"]
    assert told["about"]["unit"] == "requests"
    rows = [dict(zip(told["columns"], row, strict=True)) for row in told["rows"]]
    parquet = pq.read_table(io.BytesIO(get(f"{TOP}?by=user&format=parquet").content))
    assert parquet.to_pylist() == rows
    accept = {"Accept": "application/vnd.apache.arrow.stream"}
    arrow = get(TOP, params={"by": "user"}, headers=accept)
    assert arrow.headers["content-type"] == accept["Accept"]
    assert pa.ipc.open_stream(arrow.content).read_all().to_pylist() == rows
    csv = get(TOP, params={"by": "user"}, headers={"Accept": "text/csv;q=0.9, */*"})
    assert csv.headers["content-type"] == "text/csv; charset=utf-8"
    assert len(csv.text.splitlines()) == 1 + len(rows)
    assert csv.text.startswith("rank,user,rate_mean,rate_max,total,share\n1,1001,")


def test_the_list_of_questions_is_for_everybody(world):
    told = world.client.get("/api/v1/query").json()
    (top,) = [question for question in told["questions"] if question["name"] == "top"]
    assert top["by"] == ["user"]
    assert top["options"][0]["name"] == "limit"
    assert "executable" in told["keys"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("by=usr", "did you mean 'user'"),
        ("usre=1001", "did you mean 'user'"),
        ("limit=-1", "whole number"),
        ("from=&to=", "from is empty"),
        ("format=xml", "format can be json, csv"),
        ("format=csv&format=json", "once"),
        ("from=0001-01-01", "is no time"),
        ("step=1&step=2", "once only"),
        ("operation=%00", "no operation"),
    ],
)
def test_nonsense_is_refused_with_a_hint(world, query, said):
    answer = world.client.get(f"{TOP}?{query}")
    assert world.error(answer) == (400, "question")
    assert said in answer.json()["error"]["message"]


def test_an_answer_is_bounded_in_rows(tmp_path):
    with serving(make_store(tmp_path), Limits(answer_rows=3)) as world:
        assert world.client.get(f"{TOP}?by=user").status_code == 200
        answer = world.client.get("/api/v1/query/series?by=user,target")
        assert world.error(answer) == (413, "answer-rows")
        assert "longer step" in answer.json()["error"]["hint"]


def test_few_questions_are_answered_at_one_time(tmp_path, monkeypatch):
    go_on, store = threading.Event(), MemoryStore(tmp_path)
    monkeypatch.setattr(store, "query", lambda *_asked: go_on.wait(20), raising=False)
    with server(tmp_path, Limits(questions=1, question_s=1), store=store) as world:
        first = threading.Thread(target=world.client.get, args=(TOP,))
        first.start()
        while "pfscope_http_requests_total{route" not in world.client.get("/metrics").text:
            pass
        answers = [world.client.get(TOP) for _ in range(2)]
        go_on.set()
        first.join()
    assert (429, "busy") in [world.error(answer) for answer in answers]


def test_an_answer_takes_no_longer_than_is_allowed(tmp_path, monkeypatch):
    with serving(make_store(tmp_path), Limits(question_s=1)) as world:
        query = world.engine.store.query
        monkeypatch.setattr(world.engine.store, "query", lambda *_asked: query(ENDLESS))
        answer = world.client.get(TOP)
        assert world.error(answer) == (503, "too-long")
        assert "shorter period" in answer.json()["error"]["hint"]
        assert world.client.get("/ready").status_code == 200


def test_the_end_of_the_server_breaks_a_question_off(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "_PATIENCE_S", 1)
    asked, stopped = threading.Event(), threading.Event()

    def ask(url):
        with suppress(httpx.HTTPError):
            httpx.get(url + TOP, timeout=600, trust_env=False)

    with serving(make_store(tmp_path), Limits(question_s=600)) as world:
        query = world.engine.store.query

        def endless(*_asked):
            asked.set()
            try:
                return query(ENDLESS)
            except OutOfPatienceError:
                stopped.set()
                raise

        monkeypatch.setattr(world.engine.store, "query", endless)
        asking = threading.Thread(target=ask, args=(world.url,))
        asking.start()
        assert asked.wait(20)
    asking.join()
    assert stopped.is_set()


def test_questions_are_counted(world):
    before = world.client.get("/metrics").text
    world.client.get(TOP)
    after = world.client.get("/metrics").text

    def count(text):
        lines = (line.rpartition(" ") for line in text.splitlines())
        return next((float(n) for k, _, n in lines if k.endswith('{question="top"}')), 0.0)

    assert count(after) == count(before) + 1


def test_only_tokens_that_may_read_can_ask(tmp_path, monkeypatch):
    make_store(tmp_path)
    file = TokenFile(tmp_path)
    agent, reader = file.add("oss", ("oss*",)), file.add("anna", (), reads=True)
    metrics = file.add("prometheus", ())
    with serving(tmp_path, gate=Gate(file)) as world:

        def status(secret, path=TOP):
            headers = {"Authorization": f"Bearer {secret}"} if secret else {}
            return world.client.get(path, headers=headers).status_code

        assert [status(secret) for secret in (reader, agent, metrics, "wrong", None)] == [
            200, 403, 403, 401, 401,
        ]  # fmt: skip
        assert status(reader, "/metrics") == 200
        monkeypatch.setenv("PFSCOPE_TOKEN", reader)
        assert len(pfscope.open(world.url).top(by="user")) == 3
        monkeypatch.setenv("PFSCOPE_TOKEN", agent)
        with pytest.raises(InputError, match="may not ask who did what; make a token") as caught:
            pfscope.open(world.url).top(by="user")
        assert agent not in str(caught.value)
        path = tmp_path / "token"
        path.touch(0o600)
        path.write_text(reader)
        assert len(pfscope.open(world.url, token_file=path).top(by="user")) == 3
