"""A server watches what it receives: one incident is told once, and its end once, whatever happens.

Real processes: `pfscope serve` with a webhook, frames over HTTP, a receiver on loopback. Times are
those of the frames, so that hours pass in seconds.
"""

import copy
import json
import os
import shutil
import signal
import time
from collections import Counter
from contextlib import contextmanager

import pytest

from tests.support.hook_server import hook_server
from tests.support.serve_process import served
from tests.support.storm_frames import CULPRIT, JOB, Storms, minute_us

QUIET = 75
"""Minutes after which a signal is known well enough."""
KEEP = 30
CONFIG = """
[alert.storm]
on = "incidents"
severity = "warning"
notify = ["ops"]
keep_firing_for = "{keep}m"
update = "1m"
repeat = 0
[notify.ops]
type = "webhook"
url = "{url}"
link = "https://pfscope.example.org/incidents/$id"
"""


def until(condition, told=lambda: "", patience_s=60):
    end = time.monotonic() + patience_s
    while (found := condition()) is None or found is False:
        assert time.monotonic() < end, f"it never came true {told()}"
        time.sleep(0.02)
    return found


class Site:
    """Storms that are sent to a server, which may be killed, and what its receiver was told."""

    def __init__(self, directory, hook, storms=None):
        self.directory, self.hook = directory, hook
        self.storms, self.server = storms or Storms(), None
        config = directory / "pfscope.toml"
        config.write_text(CONFIG.format(keep=KEEP, url=hook.url))
        self.arguments = ("--config", str(config), "--limit", "reorder_s=1")

    @contextmanager
    def running(self):
        with served(self.directory / "data", *self.arguments) as self.server:
            yield self.server

    def send(self, minutes, storm=False, times=1, **more):
        frames = self.storms.frames(minutes, storm, **more)
        for _ in range(times):
            self.server.statuses(b"".join(frame for each in frames for frame in each))
        return frames

    def watched(self):
        """Wait until all that was sent was looked at."""
        return until(self._watched)

    def _watched(self):
        told = self.server.client.get("/api/v1/incidents?from=2022-10-26").json()
        done = told["about"]["watched_us"] or 0
        return told["incidents"] if done >= minute_us(self.storms.minute - 1) else None

    def told(self):
        return [json.loads(posted.body) for posted in self.hook.posted]

    def kinds(self):
        """Return what was told, each key once."""
        return [*{told["key"]: told["kind"] for told in self.told()}.values()]

    def until_told(self, kind):
        until(lambda: kind in self.kinds(), self.kinds)

    def kill(self):
        os.kill(self.server.process.pid, signal.SIGKILL)
        self.server.process.wait()


@pytest.fixture(scope="module")
def past(tmp_path_factory):
    """A quiet site that a server has watched for long enough, and that is shut down."""
    with hook_server() as hook:
        site = Site(tmp_path_factory.mktemp("past"), hook)
        with site.running() as server:
            site.send(QUIET)
            assert site.watched() == []
            assert server.end() == 0
        assert site.kinds() == []
    return site


@pytest.fixture
def site(tmp_path, past):
    shutil.copytree(past.directory / "data", tmp_path / "data")
    with hook_server() as hook:
        yield Site(tmp_path, hook, copy.deepcopy(past.storms))


def assert_told_once(site):
    kinds = Counter(site.kinds())
    assert (kinds["firing"], kinds["resolved"]) == (1, 1), site.kinds()
    assert site.kinds()[0] == "firing"
    assert site.kinds()[-1] == "resolved"
    assert len({told["group"] for told in site.told()}) == 1


def test_an_incident_is_told_with_its_culprit_and_its_end(site):
    with site.running() as server:
        site.send(8, storm=True)
        site.until_told("firing")
        site.send(KEEP + 25)
        site.until_told("resolved")
        (incident,) = site.watched()
        assert server.end() == 0
    assert_told_once(site)
    first = site.told()[0]
    assert CULPRIT in first["subject"]
    for words in ("since:", "how much:", f"user {CULPRIT}, job {JOB}", "how sure:", "what to do:",
                  f"scontrol show job {JOB}", "lctl set_param", "look at:"):  # fmt: skip
        assert words in first["text"]
    assert first["link"] == f"https://pfscope.example.org/incidents/{incident['id']}"
    assert incident["state"] == "ended"
    assert (incident["causes"][0]["user"], incident["causes"][0]["job"]) == (CULPRIT, JOB)
    assert incident["operations"] == ["open"]


def test_through_flapping_it_is_told_once(site):
    with site.running():
        for _ in range(3):
            site.send(8, storm=True)
            site.until_told("firing")
            site.send(16)
        assert len(site.watched()) > 1
        site.send(KEEP + 25)
        site.until_told("resolved")
    assert_told_once(site)


def test_through_restarts_by_sigkill_it_is_told_once(site):
    with site.running():
        site.send(5, storm=True)
        site.until_told("firing")
        site.kill()
    with site.running():
        site.send(5, storm=True)
        site.watched()
        site.kill()
    with site.running():
        site.send(5)
        site.kill()
    with site.running():
        site.send(KEEP + 25)
        site.until_told("resolved")
        site.watched()
        site.kill()
    with site.running():
        site.send(3)
        (incident,) = site.watched()
    assert_told_once(site)
    assert incident["state"] == "ended"


def test_killed_before_it_could_say_so_it_tells_after_the_restart(site):
    site.hook.may_answer.clear()
    with site.running():
        site.send(8, storm=True)
        assert site.hook.arrived.wait(60)
        site.kill()
    site.hook.may_answer.set()
    with site.running():
        site.send(KEEP + 25)
        site.until_told("resolved")
    assert_told_once(site)


def test_an_incident_that_came_and_went_while_the_server_was_down_is_told_once(site):
    with site.running():
        site.send(5)
        site.kill()
    with site.running():
        site.send(10, storm=True)
        site.send(KEEP + 25)
        site.until_told("resolved")
    assert_told_once(site)


def test_through_repeated_and_shuffled_frames_it_is_told_once(site):
    with site.running():
        site.send(5, times=2)
        storm = site.send(8, storm=True, times=3)
        site.until_told("firing")
        site.send(KEEP + 25)
        for each in reversed(storm):
            assert site.server.statuses(b"".join(each)) == ["duplicate"] * 2
        site.until_told("resolved")
        (incident,) = site.watched()
    assert_told_once(site)
    assert incident["ratio"] == pytest.approx(2010 / 10.5, rel=0.1)


def test_through_an_outage_of_all_agents_it_is_told_once(site):
    with site.running():
        site.send(6, storm=True)
        site.until_told("firing")
        site.storms.frames(25, storm=True)
        site.send(6, storm=True)
        site.watched()
        assert site.kinds() == ["firing"]
        site.send(KEEP + 25)
        site.until_told("resolved")
    assert_told_once(site)


def test_while_its_server_is_not_heard_of_an_incident_is_neither_over_nor_going_on(site):
    with site.running():
        site.send(6, storm=True)
        site.until_told("firing")
        site.send(KEEP + 40, storm=True, servers=("oss1",))
        (incident,) = site.watched()
        assert incident["state"] == "unknown"
        alerts = site.server.client.get("/api/v1/alerts").json()["alerts"]
        assert [alert["state"] for alert in alerts] == ["missing"]
        assert site.kinds() == ["firing"]
        site.send(6, storm=True)
        until(lambda: [each["state"] for each in site.watched()] == ["ongoing"])
        site.send(KEEP + 25)
        site.until_told("resolved")
    assert_told_once(site)


def test_a_silent_server_holds_up_no_other(site):
    with site.running():
        site.send(6, storm=True, servers=("mds1",))
        site.until_told("firing")
