"""The demo's detective: asks a real server, and knows the right culprit from a wrong one."""

import json
from pathlib import Path

import pytest

from pfscope.cli.demo_incident import Detective
from pfscope.times import iso
from pfscope.watch.model import Cause, State
from tests.support import alert_world
from tests.support.server_world import MemoryStore, server

ID = "20221027T0030-abcdef"
TRUTH = {"user": "12748318", "job": "11302088", "start": iso(alert_world.START_US)}


@pytest.mark.parametrize(
    ("truth", "right"),
    [({}, True), ({"user": "1"}, False), ({"job": "1"}, False), ({"user": None}, False)],
)
def test_only_job_and_user_of_the_first_cause_count(tmp_path: Path, truth: dict, right: bool):
    (tmp_path / "site/truth").mkdir(parents=True)
    (tmp_path / "site/truth/incidents.json").write_text(json.dumps([TRUTH | truth]))
    other = Cause("1", "1", None, None, 0.05, 0.9)
    causes = (*alert_world.incident().causes, other)
    with server(tmp_path, store=MemoryStore(tmp_path)) as world:
        book = world.engine.book
        detective = Detective(world.url, tmp_path / "site")
        assert detective.look() is None
        assert not detective.is_right()
        assert detective.verdict() == "no incident was found"
        book.keep(alert_world.incident(id="20221026T0030-abcdef", start_us=alert_world.at(-60)))
        assert detective.look() is None, "it began long before"
        book.keep(alert_world.incident(id=ID, causes=causes))
        assert (detective.look() or {})["id"] == ID
        assert detective.look() is None, "that is no news"
        book.keep(alert_world.incident(State.ENDED, id=ID, causes=causes))
        assert (detective.look() or {})["state"] == "ended"
        assert detective.is_right() is right
        assert ("NOT" in detective.verdict()) is not right
