"""`pfscope top` in a real terminal on a real server: drawn, pushed to, left as it was found."""

import os
import re
import signal
import sys
from contextlib import ExitStack

import pytest

from pfscope.config import Config
from pfscope.server.engine import Engine
from pfscope.server.limits import Limits
from tests.integration.test_top_batch import observe
from tests.support.query_store import make_store
from tests.support.server_world import server
from tests.support.terminal import terminal

ENTER, LEAVE, SHOW_CURSOR = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?25h"
COLOUR = re.compile(rb"\x1b\[(?:\d+;)*(3[0-7]|4[0-7]|9\d|38;)")


@pytest.fixture
def world(tmp_path):
    engine = Engine.open(make_store(tmp_path / "data"), Config(), Limits())
    with server(tmp_path / "data", engine=engine) as world:
        yield world


def opened(tmp_path, *arguments, term="xterm-256color", **environment):
    command = [sys.executable, "-m", "pfscope.cli.main", "top", *map(str, arguments)]
    return terminal(command, TERM=term, XDG_STATE_HOME=str(tmp_path), **environment)


def test_it_draws_what_is_pushed_and_leaves_the_terminal_as_it_was(world, tmp_path):
    with opened(tmp_path, "--server", world.url, "--sort", "open") as screen:
        before = screen.modes()
        screen.until(ENTER, b"pfscope top", b"1001")
        since = len(screen.drawn)
        observe(world, 60)
        screen.until(b"1002", since=since)
        screen.type(b"q")
        assert screen.end() == 0
        assert LEAVE in screen.drawn
        assert screen.drawn.rindex(SHOW_CURSOR) > screen.drawn.index(ENTER)
        assert screen.modes()[3] == before[3]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, "ctrl-c"])
def test_however_it_ends_the_terminal_is_left(world, tmp_path, number):
    with opened(tmp_path, "--server", world.url) as screen:
        screen.until(b"1001", b"by user")
        screen.type(b"\x03") if number == "ctrl-c" else os.kill(screen.pid, number)
        assert screen.end() == 0
        assert LEAVE in screen.drawn


def test_a_server_that_comes_back_is_found_again(tmp_path):
    data = make_store(tmp_path / "data")
    with ExitStack() as first:
        engine = Engine.open(data, Config(), Limits())
        world = first.enter_context(server(data, engine=engine))
        port = world.url.rpartition(":")[2]
        stack = ExitStack()
        screen = stack.enter_context(opened(tmp_path, "--server", world.url))
        screen.until(b"1001", b"by user")
        since = len(screen.drawn)
    with stack:
        screen.until(b"trying", b"again", since=since)
        since = len(screen.drawn)
        engine = Engine.open(data, Config(), Limits())
        with server(data, engine=engine, listen=f"127.0.0.1:{port}"):
            screen.until(b"nothing new for", since=since)  # the site is an old one
            screen.type(b"q")
            assert screen.end() == 0


def test_a_directory_is_replayed(tmp_path):
    data = make_store(tmp_path / "data")
    with opened(tmp_path, "--data", data, "--sort", "open") as screen:
        screen.until(b"recorded", b"00:04:00Z")
        screen.type(b"\x1b[D")
        screen.until(b"paused", b"1002")
        screen.type(b"q")
        assert screen.end() == 0


@pytest.mark.parametrize(
    ("environment", "coloured"), [({"term": "xterm"}, True), ({"NO_COLOR": "1"}, False)]
)
def test_colours_are_the_terminals_own_or_none(world, tmp_path, environment, coloured):
    with opened(tmp_path, "--server", world.url, **environment) as screen:
        screen.until(b"1001", b"by user")
        screen.type(b"q")
        screen.end()
    found = {match[1] for match in COLOUR.finditer(screen.drawn)}
    assert bool(found) is coloured, found
    assert b"38;" not in found


def test_what_cannot_be_drawn_on_is_told(tmp_path):
    with opened(tmp_path, term="dumb") as screen:
        assert screen.end() == 2
        assert b"--batch" in screen.drawn
        assert ENTER not in screen.drawn


def test_a_wrong_address_ends_it_with_one_line(tmp_path):
    with opened(tmp_path, "--server", "http://127.0.0.1:9") as screen:
        assert screen.end() == 1
        after = screen.drawn[screen.drawn.rindex(LEAVE) :]
        assert b"http://127.0.0.1:9 does not answer" in after
        assert b"Traceback" not in screen.drawn
