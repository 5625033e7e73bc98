"""Housekeeping beside the ingest: it holds nothing, its failure stops nothing, and it ends."""

import re
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest

from pfscope.ingest import Ingest
from pfscope.server.engine import Engine
from pfscope.server.housekeeper import Housekeeper
from pfscope.server.limits import Limits
from pfscope.server.logs import configure_logs
from pfscope.store.check import examine
from pfscope.store.embedded import open_store
from pfscope.store.housekeeping import Rules
from tests.support.frame_samples import encoded
from tests.support.server_world import server
from tests.support.store_rows import whole_batch

EAGER = Rules(settle_us=0, quiet_us=0)


def until(condition):
    for _ in range(2000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it never came true")


class Gate:
    """A step of housekeeping that waits until it is told to go on."""

    def __init__(self):
        self.reached, self.open = threading.Event(), threading.Event()

    def step(self, _name):
        self.reached.set()
        assert self.open.wait(60)


@contextmanager
def served(directory, step, housekeeper=None):
    """Serve a store that has a finished day; `step` is called between the steps of rolling it."""
    store = open_store(directory, rules=EAGER, step=step)
    store.commit(whole_batch(), [])
    engine = Engine(
        store,
        lambda counting: Ingest(counting, wait_s=0),
        Limits(free_bytes=1),
        housekeeper=housekeeper,
    )
    with server(directory, engine=engine, store=store) as world:
        yield world


def stored(world):
    lines = world.engine.ledger()
    return sum(n.frames for n in lines if (n.stage, n.outcome) == ("ingest", "stored"))


def rolled(world):
    return [part for part in world.store.parts() if part.table == "usage_ost"]


def trouble(world):
    text = world.client.get("/metrics").text
    return re.search(r'pfscope_trouble\{part="housekeeping"\} (\d)', text)[1]


def test_frames_are_committed_while_housekeeping_is_held(tmp_path):
    gate = Gate()
    with served(tmp_path, gate.step) as world:
        assert gate.reached.wait(20)
        for sequence in range(20):
            assert world.statuses(encoded(sequence)) == ["stored"]
        until(lambda: stored(world) == 20)
        assert world.client.get("/ready").status_code == 200
        assert not rolled(world)
        gate.open.set()
        until(lambda: rolled(world))


def test_housekeeping_that_fails_is_told_and_tried_again_and_stops_nothing(tmp_path, capsys):
    mended = threading.Event()

    def step(_name):
        if not mended.is_set():
            raise OSError(28, "No space left on device")

    configure_logs()
    with served(tmp_path, step, Housekeeper(pause_s=0.01)) as world:
        until(lambda: trouble(world) == "1")
        assert world.statuses(encoded(0)) == ["stored"]
        until(lambda: stored(world) == 1)
        assert world.client.get("/ready").status_code == 200
        mended.set()
        until(lambda: rolled(world))
        until(lambda: trouble(world) == "0")
    told = [line for line in capsys.readouterr().err.splitlines() if "housekeeping" in line]
    assert told[0] == "pfscope: ERROR: housekeeping: [Errno 28] No space left on device"
    assert re.fullmatch(r"pfscope: INFO: housekeeping: works again after \d+ s", told[1])
    assert len(told) == 2


@pytest.mark.parametrize("broken_off_at", ["written", "recorded", "committed"])
def test_the_end_breaks_it_off_between_two_steps_and_harms_nothing(tmp_path, broken_off_at):
    gate, housekeeper = Gate(), Housekeeper()

    def step(name):
        if name == broken_off_at:
            gate.step(name)
            housekeeper.step(name)

    with open_store(tmp_path, rules=EAGER, step=step) as store:
        store.commit(whole_batch(), [])
        housekeeper.start(store)
        assert gate.reached.wait(20)
        housekeeper.stop()
        gate.open.set()
        assert housekeeper.wait(20)
        assert len(store.parts()) == (broken_off_at == "committed")
    with open_store(tmp_path) as store:
        assert store.query("SELECT count(*) FROM usage_ost").column(0).to_pylist() == [1]
        assert [f.text for f in examine(store) if not f.healthy] == []


STUCK = """
import sys, threading
from pathlib import Path
from pfscope.ingest import Ingest
from pfscope.server.app import create_app
from pfscope.server.engine import Engine
from pfscope.server.limits import Limits
from pfscope.server.run import parse_listen, serve
from pfscope.server.tokens import Gate, TokenFile
from pfscope.store.embedded import open_store
from pfscope.store.housekeeping import Rules
from tests.support.store_rows import whole_batch

directory = Path(sys.argv[1])
reached = threading.Event()

def step(_name):
    reached.set()
    threading.Event().wait()

store = open_store(directory, rules=Rules(settle_us=0, quiet_us=0), step=step)
store.commit(whole_batch(), [])
engine = Engine(store, lambda counting: Ingest(counting, wait_s=0), Limits(), patience_s=0.1)
assert reached.wait(60)
app = create_app(engine, Gate(TokenFile(directory), may_be_open=True))
serve(lambda: app, parse_listen("127.0.0.1:0"), Limits(), lambda url: print(url, flush=True))
"""


def test_a_server_ends_though_its_housekeeping_does_not(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", STUCK, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline().startswith("http://"), process.stderr.read()
        process.terminate()
        assert process.wait(60) == 0
        assert "housekeeping does not end" in process.stderr.read()
    with open_store(tmp_path) as store:
        assert store.query("SELECT count(*) FROM usage_ost").column(0).to_pylist() == [1]
        assert [f.text for f in examine(store) if not f.healthy] == []
