"""What the agent puts into its frames beside the texts, and that no count is lost or told twice."""

import argparse
import errno
import os

import pytest

from pfscope.agent.agent import Agent
from pfscope.agent.collect import Collector
from pfscope.agent.options import add_options, settings
from pfscope.agent.say import Sayer, Tally
from pfscope.frames import FrameLog, decode
from tests.support.lustre_tree import BOOT_ID, HOST, MDS, write_tree


class World:
    def __init__(self, tmp_path, *arguments):
        self.root = tmp_path / "tree"
        parser = argparse.ArgumentParser()
        add_options(parser)
        tree = write_tree(self.root, MDS, HOST)
        chosen = settings(parser.parse_args(["--root", tree, "--server", "mds1", *arguments]))
        self.now, self.steps = 1_700_000_000.25, [0.0]
        self.tally = Tally()
        collector = Collector(tree, chosen.collect)
        self.agent = Agent(chosen, collector, Sayer(), self.tally, lambda: self.now, self.monotonic)

    def monotonic(self):
        self.now += self.steps[0]
        return self.now - 1_600_000_000

    def frame(self):
        return decode(self.agent.make_frame({}))


def last(log):
    return decode(log.read(log.pending(newest_first=True, limit=1)[0]))


def test_the_frame_says_who_when_and_what(tmp_path):
    world = World(tmp_path, "--interval", "5")
    frame = world.frame()
    origin = frame.origin
    assert (origin.server, origin.sequence, origin.filesystems) == ("mds1", 0, ("scratch",))
    assert origin.wall_ns == pytest.approx(1_700_000_000_250_000_000, abs=1000)
    assert (origin.interval_s, origin.effective_interval_s) == (5.0, 5.0)
    assert origin.epoch.startswith(BOOT_ID + ".")
    assert frame.notes["role"] == "MDS"
    assert set(frame.notes) == {"agent", "role"}


def test_sequences_count_without_gaps_and_a_boot_begins_anew(tmp_path):
    world = World(tmp_path)
    first, second = world.frame().key, world.frame().key
    assert (first[1], first[2], second[2]) == (second[1], 0, 1)
    (world.root / "proc/sys/kernel/random/boot_id").write_text("2222\n")
    third = world.frame().key
    assert third[1].startswith("2222.")
    assert third[2] == 0


def test_two_agents_in_one_boot_never_use_one_name(tmp_path):
    epochs = {World(tmp_path / str(i)).frame().key for i in range(20)}
    assert len(epochs) == 20


def test_slow_reading_widens_the_interval_and_says_so(tmp_path):
    world = World(tmp_path, "--interval", "5")
    world.steps = [6.0]
    frame = world.frame()
    assert frame.origin.interval_s == 5.0
    assert frame.origin.effective_interval_s > 5.0
    assert "every 5 s" in frame.notes["widened"]


@pytest.mark.parametrize(("interval", "warned"), [("299", False), ("300", True), ("600", True)])
def test_an_interval_of_half_the_cleanup_interval_is_warned_of_once(
    tmp_path, capsys, interval, warned
):
    world = World(tmp_path, "--interval", interval)
    frames = [world.frame(), world.frame()]
    told = capsys.readouterr().err
    assert told.count("job_cleanup_interval") == int(warned)
    assert [bool(frame.notes.get("warnings")) for frame in frames] == [warned, warned]


def test_no_cleanup_no_warning(tmp_path, capsys):
    world = World(tmp_path, "--interval", "1h")
    (world.root / "sys/fs/lustre/mdt/scratch-MDT0000/job_cleanup_interval").write_text("0\n")
    world.agent._collector._look()
    assert "warnings" not in world.frame().notes
    assert capsys.readouterr().err == ""


def test_what_could_not_be_read_is_in_the_notes(tmp_path):
    world = World(tmp_path)
    (world.root / "proc/fs/lustre/mdt/scratch-MDT0000/md_stats").unlink()
    told = [["mdt.scratch-MDT0000.md_stats", "No such file or directory"]]
    assert world.frame().notes["unreadable"] == {"count": 1, "first": told}


def test_what_the_bound_dropped_is_told_in_the_next_frame_and_once(tmp_path):
    world = World(tmp_path)
    size = len(world.agent.make_frame({}))
    with FrameLog(str(tmp_path / "spool"), max_bytes=12 * size) as log:
        told = 0
        for _ in range(60):
            world.agent.tick(log)
            told += last(log).notes.get("dropped", {}).get("size", 0)
        world.agent.tick(log)
        told += last(log).notes.get("dropped", {}).get("size", 0)
        assert 0 <= log.dropped["size"] - told <= 2
        assert log.dropped["size"] + len(log) == 61


def test_what_the_server_rejected_is_told_once(tmp_path):
    world = World(tmp_path)
    with FrameLog(str(tmp_path / "spool")) as log:
        world.tally.add("rejected", 3)
        world.agent.tick(log)
        assert last(log).notes["dropped"] == {"rejected": 3}
        world.agent.tick(log)
        assert "dropped" not in last(log).notes


def test_a_full_disk_loses_that_frame_only_and_the_next_one_tells(tmp_path, capsys):
    world = World(tmp_path)
    full = [False]

    def write(fd, data):
        if full[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        return os.write(fd, data)

    with FrameLog(str(tmp_path / "spool"), write=write) as log:
        world.agent.tick(log)
        world.tally.add("rejected")
        full[0] = True
        assert not world.agent.tick(log)
        assert not world.agent.tick(log)
        full[0] = False
        assert world.agent.tick(log)
        assert last(log).notes["dropped"] == {"not spooled": 2, "rejected": 1}
        assert [decode(log.read(p)).origin.sequence for p in log.pending()] == [0, 3]
    told = capsys.readouterr().err
    assert told.count("No space left") == 1
    assert "takes frames again" in told
