"""`/api/v1/now` and `/api/v1/live` of a running server: as questions say, and worked out once."""

import json
import threading
import time

import pytest

from pfscope.config import Config
from pfscope.now.now import Now
from pfscope.server.engine import Engine
from pfscope.server.limits import Limits
from tests.support.query_store import T2, make_store
from tests.support.query_tables import frames_at, used
from tests.support.server_world import server
from tests.support.store_rows import MINUTE_US, table

NOW = "/api/v1/now"
T3 = T2 + 2 * MINUTE_US


@pytest.fixture
def world(tmp_path):
    engine = Engine.open(make_store(tmp_path), Config(), Limits(watchers=2))
    with server(tmp_path, engine=engine) as world:
        yield world


def observe(world, opened):
    """Commit two more minutes in which 1002 opened so many files."""
    world.engine.store.commit(
        {
            "usage_mdt": table("usage_mdt", [used(1, T2, T3, opened)]),
            "frames": table("frames", frames_at(T3, server="mds1")),
        },
        [],
    )


def asked(world, query=""):
    return world.client.get(f"{NOW}?{query}").raise_for_status().json()


def test_now_is_what_the_same_question_to_the_store_says(world):
    answer = asked(world, "by=user,target&sort=open&at=-2m")
    place = answer["columns"].index("open")
    rates = {tuple(row[:2]): row[place] for row in answer["rows"] if row[place]}
    question = "/api/v1/query/top?by=user,target&operation=open&to=-2m&from=-4m"
    rows = world.client.get(question).json()["rows"]
    assert rates == {(user, target): mean for _, user, target, mean, *_ in rows}


def test_what_is_committed_is_there_at_once(world):
    assert asked(world)["rows"][0][0] == "1001"
    observe(world, 60)
    (row,) = asked(world)["rows"]
    assert row[0] == "1002"


def test_nothing_new_is_told_in_few_bytes(world):
    first = world.client.get(NOW)
    again = world.client.get(NOW, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    observe(world, 60)
    newer = world.client.get(NOW, headers={"If-None-Match": first.headers["etag"]})
    assert newer.status_code == 200


def test_one_computation_serves_all_who_ask_the_same(world, monkeypatch):
    made = []
    document = Now.document
    monkeypatch.setattr(Now, "document", lambda *told: made.append(1) or document(*told))
    askers = [threading.Thread(target=asked, args=(world, "by=job")) for _ in range(8)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert len(made) == 1


def events(response):
    for line in response.iter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def test_live_pushes_what_is_new(world):
    with world.client.stream("GET", "/api/v1/live?by=user") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        coming = events(response)
        assert next(coming)["rows"][0][0] == "1001"
        observe(world, 60)
        assert next(coming)["rows"][0][0] == "1002"


def test_too_many_watchers_are_told_to_come_later(world):
    with (
        world.client.stream("GET", "/api/v1/live") as first,
        world.client.stream("GET", "/api/v1/live") as second,
    ):
        watching = events(first), events(second)
        for coming in watching:
            next(coming)
        third = world.client.get("/api/v1/live")
        assert world.error(third) == (429, "busy")
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:  # those who left have made room
        with world.client.stream("GET", "/api/v1/live") as response:
            if response.status_code == 200:
                return
    pytest.fail("the places were never given back")


@pytest.mark.parametrize("query", ["by=usr", "sort=x", "over=1h", "at=never"])
def test_nonsense_is_refused(world, query):
    assert world.error(world.client.get(f"{NOW}?{query}")) == (400, "question")


def test_live_is_now_alone(world):
    assert world.error(world.client.get("/api/v1/live?at=-1h")) == (400, "question")


def test_who_watches_does_not_hold_the_end_up(tmp_path):
    engine = Engine.open(make_store(tmp_path), Config(), Limits())
    with server(tmp_path, engine=engine) as world, world.client.stream("GET", "/api/v1/live") as r:
        coming = events(r)
        next(coming)
        began = time.monotonic()
        world.running.should_exit = True
        assert list(coming) == []
        assert time.monotonic() - began < 10
