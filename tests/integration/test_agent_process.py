"""The real agent process against a tree and a loopback receiver in every mood.

Whatever happens, each frame that was spooled arrives, and is counted once.
"""

import signal
import subprocess
import sys
import time

import pytest

from pfscope.frames import Origin, iter_frames
from tests.support.frame_samples import encoded
from tests.support.lustre_tree import BOOT_ID, HOST, JOB_STATS, LCTL, MDS, write_lctl, write_tree
from tests.support.receiver import Receiver

AGENT = (sys.executable, "-m", "pfscope.agent")


class Site:
    """A server's tree, a spool, and agents that run on them one after another."""

    def __init__(self, tmp_path):
        self.tree = write_tree(tmp_path / "tree", MDS, HOST)
        self.spool = tmp_path / "spool"
        self.log = tmp_path / "stderr"
        self.token = tmp_path / "token"
        self.token.write_text("s3cret-token\n")
        self.token.chmod(0o600)
        self.agents = []

    def command(self, *arguments):
        fixed = ("--root", self.tree, "--server", "mds1", "--spool", str(self.spool))
        return [*AGENT, *fixed, "--interval", "1", *arguments]

    def start(self, *arguments):
        with self.log.open("ab") as log:
            agent = subprocess.Popen(self.command(*arguments), stderr=log)
        self.agents.append(agent)
        return agent

    def run(self, *arguments, **options):
        return subprocess.run(self.command(*arguments), capture_output=True, timeout=60, **options)

    def frames(self):
        return list(iter_frames(str(self.spool))) if self.spool.exists() else []

    def spooled(self):
        return [frame.key for frame in self.frames()]

    def end(self):
        for agent in self.agents:
            if agent.poll() is None:
                agent.kill()
            agent.wait()


@pytest.fixture
def site(tmp_path):
    made = Site(tmp_path)
    yield made
    made.end()


def until(condition, patience_s=30):
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def without_gaps(frames):
    epochs = {}
    for _server, epoch, sequence in frames:
        epochs.setdefault(epoch, []).append(sequence)
    return all(sorted(s) == list(range(len(s))) for s in epochs.values())


def test_frames_arrive_and_leave_the_spool(site):
    with Receiver() as receiver:
        agent = site.start("--url", receiver.url, "--token-file", str(site.token))
        receiver.wait_for(lambda: receiver.stored >= 3)
        agent.send_signal(signal.SIGTERM)
        assert agent.wait(30) == 0
        left = set(site.spooled())
        assert without_gaps(left | set(receiver.frames))
        assert receiver.duplicates == 0
    assert receiver.tokens == {"Bearer s3cret-token"}
    assert receiver.types == {"application/vnd.pfscope.frames"}
    frames = [receiver.frames[key] for key in sorted(receiver.frames)]
    # On the grid: within a moment after a whole second, each in a second of its own.
    seconds = [frame.origin.wall_ns // 10**9 for frame in frames]
    assert len(set(seconds)) == len(seconds)
    assert frames[0].origin.epoch.startswith(BOOT_ID + ".")
    texts = {section.name: section.text.decode() for section in frames[0].sections()}
    assert texts["mdt.scratch-MDT0000.job_stats"] == JOB_STATS
    told = site.log.read_text()
    assert "MDS with scratch-MDT0000" in told
    assert told.count("\n") == 1
    assert "s3cret" not in told


@pytest.mark.parametrize(
    "moods",
    [["error"], ["busy"], ["rubbish"], ["forbidden"], ["lost_reply"], ["slow"], ["never"]],
    ids=lambda moods: moods[0],
)
def test_no_frame_is_lost_whatever_the_server_does(site, moods):
    with Receiver(*moods, "good") as receiver:
        agent = site.start("--url", receiver.url)
        if moods[0] == "never":
            # Collecting goes on while an answer is waited for.
            until(lambda: len(site.spooled()) >= 3)
            agent.kill()
            agent.wait()
            agent = site.start("--url", receiver.url)
        receiver.wait_for(lambda: receiver.stored >= 3)
        agent.send_signal(signal.SIGTERM)
        assert agent.wait(30) == 0
        assert site.run("--once", "--url", receiver.url).returncode == 0
        assert site.spooled() == []
        assert without_gaps(receiver.frames)
        assert receiver.stored == len(receiver.frames)


def test_a_server_that_comes_late_gets_everything(site):
    with Receiver() as receiver:
        port = receiver.server.server_port
    site.start("--url", f"http://127.0.0.1:{port}")
    until(lambda: len(site.spooled()) >= 2)
    with Receiver() as receiver:
        site.end()
        spooled = set(site.spooled())
        assert site.run("--once", "--url", receiver.url).returncode == 0
        assert spooled < set(receiver.frames)
    assert "cannot send: Connection refused" in site.log.read_text()


def test_killing_loses_nothing_that_was_spooled_and_counts_nothing_twice(site):
    with Receiver("lost_reply", "good", "error", "good", "busy", "good") as receiver:
        seen = set()
        for _round in range(5):
            agent = site.start("--url", receiver.url)
            before = receiver.requests
            receiver.wait_for(lambda before=before: receiver.requests > before)
            agent.send_signal(signal.SIGKILL)
            agent.wait()
            seen |= set(site.spooled())
        assert site.run("--once", "--url", receiver.url).returncode == 0
        assert site.spooled() == []
        assert seen <= set(receiver.frames)
        assert without_gaps(receiver.frames)
        assert receiver.stored == len(receiver.frames)


def test_once_spools_a_frame_and_says_when_it_could_not_send(site):
    assert site.run("--once").returncode == 0
    assert len(site.spooled()) == 1
    done = site.run("--once", "--url", "http://127.0.0.1:9")
    assert done.returncode == 1
    assert b"cannot send" in done.stderr
    assert len(site.spooled()) == 2


def test_print_shows_what_would_be_sent_and_keeps_nothing(site):
    done = site.run("--once", "--print")
    assert done.returncode == 0
    text = done.stdout.decode()
    assert f"mdt.scratch-MDT0000.job_stats=\n{JOB_STATS}" in text
    assert "/proc/loadavg=\n0.10" in text
    assert b"mds1 frame 0 of epoch" in done.stderr
    assert not site.spool.exists()


def test_what_lctl_says_travels_as_it_is(site, tmp_path):
    root = write_tree(tmp_path / "bare", HOST)
    write_lctl(tmp_path / "bare", LCTL)
    done = site.run("--once", "--print", "--root", root)
    assert b"obdfilter.scratch-OST000a.job_stats=job_stats:\n" in done.stdout
    assert b"lctl=" not in done.stdout


MISTAKES = {
    "print alone": ("--print",),
    "url": ("--url", "gopher://x"),
    "interval": ("--interval", "soon"),
    "token": ("--url", "http://x", "--token-file", "/nonexistent"),
    "spool": ("--spool", "/proc/nowhere"),
}


@pytest.mark.parametrize("arguments", MISTAKES.values(), ids=MISTAKES)
def test_mistakes_end_with_2_and_one_line(site, arguments):
    done = site.run(*arguments)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    through_pfscope = [sys.executable, "-m", "pfscope.cli.main", "agent", *arguments]
    done = subprocess.run(through_pfscope, capture_output=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith(b"pfscope: ")


def test_a_spool_has_one_agent(site):
    agent = site.start()
    until(lambda: len(site.spooled()) >= 1)
    done = site.run("--once")
    assert done.returncode == 2
    assert b"in use by another process" in done.stderr
    agent.send_signal(signal.SIGTERM)
    assert agent.wait(30) == 0


def test_a_spool_left_damaged_is_no_obstacle(site):
    site.spool.mkdir()
    old = Origin("mds1", "old", 0, time.time_ns())
    good = encoded(0, wall_ns=old.wall_ns)
    (site.spool / f"{1:016}.pfl").write_bytes(b"rubbish" + good + good[:40])
    with Receiver() as receiver:
        assert site.run("--once", "--url", receiver.url).returncode == 0
        assert len(receiver.frames) == 2
        newest = next(frame for frame in receiver.frames.values() if frame.key[1] != "boot.1")
        assert newest.notes["dropped"] == {"damaged": 2}


def test_the_bound_holds_and_is_told(site):
    agent = site.start("--spool-bytes", "2K")
    until(lambda: any("dropped" in frame.notes for frame in site.frames()))
    agent.send_signal(signal.SIGTERM)
    assert agent.wait(30) == 0
    assert sum(p.stat().st_size for p in site.spool.glob("*.pfl")) <= 2048
    assert site.spool.stat().st_mode & 0o077 == 0
