"""Messages reach real servers on loopback, once, whatever happens to either side in the middle."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

from pfscope.watch.alerts.alerting import Alerting
from tests.support import alert_world as world
from tests.support.hook_server import hook_server

ROOT = Path(__file__).resolve().parents[2]


class Process:
    """Alerts in a process of their own, fed line by line."""

    def __init__(self, directory, config):
        command = [sys.executable, "-m", "tests.support.alert_process", directory, config]
        self.process = subprocess.Popen(
            [*map(str, command)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def at(self, minute, state):
        self.process.stdin.write(f"{minute} {state}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def finish(self):
        self.process.stdin.close()
        assert self.process.wait(60) == 0


def configured(tmp_path, server):
    path = tmp_path / "pfscope.toml"
    path.write_text(
        "[alert.storm]\non = 'incidents'\nnotify = ['ops']\nkeep_firing_for = '5m'\nrepeat = 0\n"
        f"[notify.ops]\ntype = 'webhook'\nurl = '{server.url}'\n"
    )
    return tmp_path / "data", path


def test_killed_while_the_receiver_takes_it_it_comes_again_under_the_same_key(tmp_path):
    with hook_server() as server:
        paths = configured(tmp_path, server)
        server.may_answer.clear()
        with Process(*paths) as first:
            assert first.at(0, "ongoing") == "told 1\n"
            assert server.arrived.wait(30)
            os.kill(first.process.pid, signal.SIGKILL)
            first.process.wait()
        server.may_answer.set()
        with Process(*paths) as second:
            assert second.at(60, "ongoing") == "told 0\n"
            assert second.at(61, "ended") == "told 0\n"
            assert second.at(66, "ended") == "told 1\n"
            second.finish()
    told = [json.loads(posted.body) for posted in server.posted]
    assert [plain["kind"] for plain in told] == ["firing", "firing", "resolved"]
    assert server.posted[0].body == server.posted[1].body
    assert Counter({p["key"]: p["kind"] for p in told}.values()) == {"firing": 1, "resolved": 1}
    assert len({plain["group"] for plain in told}) == 1


def test_killed_after_it_arrived_it_does_not_come_again(tmp_path):
    with hook_server() as server:
        paths = configured(tmp_path, server)
        with Process(*paths) as first:
            first.at(0, "ongoing")
            first.finish()
        for minute in (1, 2, 3):
            with Process(*paths) as again:
                assert again.at(minute, "ongoing") == "told 0\n"
                os.kill(again.process.pid, signal.SIGKILL)
        assert len(server.posted) == 1


def test_two_processes_never_tell_the_same(tmp_path):
    with hook_server() as server:
        directory, config = configured(tmp_path, server)
        with Process(directory, config) as first:
            first.at(0, "ongoing")
            second = subprocess.run(
                [sys.executable, "-m", "tests.support.alert_process", directory, config],
                cwd=ROOT, input="0 ongoing\n", capture_output=True, text=True, timeout=60,
            )  # fmt: skip
            assert "another process sends the alerts" in second.stderr


class Blocked:
    """A receiver that never answers, until it may."""

    def __init__(self):
        self.free = threading.Event()

    def send(self, _message):
        self.free.wait(60)
        return "at last"


class Told:
    """A receiver that says when something came."""

    def __init__(self):
        self.came = threading.Event()

    def send(self, _message):
        self.came.set()
        return "taken"


def test_a_receiver_that_hangs_holds_back_no_other(tmp_path):
    slow, quick = Blocked(), Told()
    rules = [world.rule(notify=("slow", "quick"))]
    alerting = Alerting(tmp_path, rules, world.channels(slow=slow, quick=quick))
    alerting.start()
    alerting.advance([world.incident()])
    assert quick.came.wait(30)
    slow.free.set()
    alerting.close()
