"""The log: what was appended is there again, leaves by acknowledgement or bound, and is counted."""

import errno
import os
import subprocess
import sys
import threading

import pytest

from pfscope.frames import FrameError, FrameLog, LogBusy, LogFull, decode, iter_frames
from pfscope.frames.scan import Damage
from tests.support.frame_samples import WALL_NS, encoded, sized


def sequences(log):
    return [decode(log.read(position)).origin.sequence for position in log.pending()]


def segments(path):
    return sorted(p.name for p in path.glob("*.pfl"))


def test_what_was_appended_is_there_after_reopening(tmp_path):
    with FrameLog(str(tmp_path)) as log:
        for i in range(5):
            log.append(encoded(i))
        log.sync()
    with FrameLog(str(tmp_path)) as log:
        assert sequences(log) == [0, 1, 2, 3, 4]
        assert len(log) == 5
        assert log.read(log.pending()[3]) == encoded(3)


def test_pending_in_both_directions_and_limited(tmp_path):
    with FrameLog(str(tmp_path), segment_bytes=len(encoded()) * 2) as log:
        positions = [log.append(encoded(i)) for i in range(7)]
        log.acknowledge([positions[2], positions[6]])
        left = [p for i, p in enumerate(positions) if i not in (2, 6)]
        assert log.pending() == left
        assert log.pending(newest_first=True) == left[::-1]
        assert log.pending(limit=2) == left[:2]
        assert log.pending(newest_first=True, limit=1) == [left[-1]]
        assert log.pending(limit=0) == []


def test_acknowledged_segments_are_deleted(tmp_path):
    with FrameLog(str(tmp_path), segment_bytes=len(encoded()) * 2) as log:
        positions = [log.append(encoded(i)) for i in range(6)]
        assert len(segments(tmp_path)) == 3
        log.acknowledge(positions[1:4])
        assert len(segments(tmp_path)) == 2
        log.acknowledge(positions)
    assert [p.name for p in tmp_path.iterdir()] == [".lock"]


def test_acknowledgements_survive_the_process(tmp_path):
    with FrameLog(str(tmp_path)) as log:
        positions = [log.append(encoded(i)) for i in range(4)]
        log.acknowledge(positions[1:3])
    with FrameLog(str(tmp_path)) as log:
        assert sequences(log) == [0, 3]


def test_lost_or_damaged_acknowledgements_only_mean_sending_again(tmp_path):
    with FrameLog(str(tmp_path)) as log:
        positions = [log.append(encoded(i)) for i in range(4)]
        log.acknowledge(positions[:3])
    (acks,) = tmp_path.glob("*.ack")
    stored = acks.read_bytes()
    for cut in range(len(stored)):
        acks.write_bytes(stored[:cut])
        with FrameLog(str(tmp_path)) as log:
            assert sequences(log) == [0, 1, 2, 3][cut // 16 :]
            # Acknowledging goes on behind a torn record.
            log.acknowledge(positions[:3])
        with FrameLog(str(tmp_path)) as log:
            assert sequences(log) == [3]
    acks.write_bytes(stored[:20] + b"\xff" + stored[21:])
    with FrameLog(str(tmp_path)) as log:
        assert sequences(log) == [1, 3]


def test_an_acknowledgement_counts_for_its_own_frame_only(tmp_path):
    with FrameLog(str(tmp_path)) as log:
        log.acknowledge([log.append(encoded(0))])
        log.append(encoded(1))
    (segment,) = tmp_path.glob("*.pfl")
    segment.write_bytes(encoded(7) + encoded(1))  # the machine crashed and other bytes are there
    with FrameLog(str(tmp_path)) as log:
        assert sequences(log) == [7, 1]


def test_a_torn_tail_is_cut_and_nothing_is_appended_to_the_old_segment(tmp_path):
    with FrameLog(str(tmp_path)) as log:
        log.append(encoded(0))
    (old,) = tmp_path.glob("*.pfl")
    old.write_bytes(encoded(0) + encoded(1)[:-3])
    with FrameLog(str(tmp_path)) as log:
        assert old.read_bytes() == encoded(0)
        assert log.damaged == 1
        log.append(encoded(2))
        assert sequences(log) == [0, 2]
        assert len(segments(tmp_path)) == 2


def test_a_damaged_middle_is_skipped_and_counted(tmp_path):
    frames = [encoded(i) for i in range(3)]
    (tmp_path / f"{1:016}.pfl").write_bytes(frames[0] + b"\0" * 9 + frames[2])
    with FrameLog(str(tmp_path)) as log:
        assert sequences(log) == [0, 2]
        assert log.damaged == 1


def test_a_body_damaged_in_an_old_segment_is_found_when_it_is_read(tmp_path):
    bad = bytearray(encoded(0) + encoded(1))
    bad[len(encoded(0)) - 1] ^= 1
    (tmp_path / f"{1:016}.pfl").write_bytes(bad)
    (tmp_path / f"{2:016}.pfl").write_bytes(encoded(2))
    with FrameLog(str(tmp_path)) as log:
        with pytest.raises(FrameError):
            log.read(log.pending()[0])
        assert sequences(log) == [1, 2]
        assert log.damaged == 1
    with FrameLog(str(tmp_path)) as log:
        assert sequences(log) == [1, 2]


def test_opening_never_fails_because_of_damage(tmp_path):
    (tmp_path / f"{1:016}.pfl").write_bytes(b"rubbish")
    (tmp_path / f"{1:016}.ack").write_bytes(b"rubbish too")
    (tmp_path / f"{2:016}.pfl").write_bytes(b"")
    (tmp_path / f"{3:016}.ack").write_bytes(b"")
    (tmp_path / "notes.pfl").write_bytes(b"not ours")
    with FrameLog(str(tmp_path)) as log:
        assert log.pending() == []
        log.append(encoded(4))
        assert sequences(log) == [4]
    assert (tmp_path / f"{1:016}.pfl").read_bytes() == b"rubbish"
    assert not (tmp_path / f"{3:016}.ack").exists()


def test_the_bound_in_bytes_drops_the_oldest_and_counts(tmp_path):
    size = len(sized(0, 1000))
    with FrameLog(str(tmp_path), max_bytes=20 * size) as log:
        for i in range(100):
            log.append(sized(i, 1000))
            assert log.size_bytes <= 20 * size
        kept = sequences(log)
        assert kept == list(range(100 - len(kept), 100))
        assert len(kept) >= 15
        assert log.dropped == {"size": 100 - len(kept), "age": 0}


def test_acknowledged_frames_do_not_count_as_dropped(tmp_path):
    size = len(sized(0, 1000))
    with FrameLog(str(tmp_path), max_bytes=8 * size) as log:
        first = log.append(sized(0, 1000))
        log.acknowledge([first])
        for i in range(1, 9):
            log.append(sized(i, 1000))
        assert log.dropped["size"] + len(log) == 8


def test_the_bound_in_time_drops_the_oldest_and_counts(tmp_path):
    now = [WALL_NS / 1e9]
    with FrameLog(str(tmp_path), max_age_s=3600, clock=lambda: now[0]) as log:
        for i in range(200):
            now[0] = WALL_NS / 1e9 + 60 * i
            log.append(encoded(i, wall_ns=WALL_NS + 60 * 10**9 * i))
        kept = sequences(log)
        assert kept == list(range(200 - len(kept), 200))
        assert 60 <= len(kept) <= 66
        assert log.dropped == {"size": 0, "age": 200 - len(kept)}


def test_a_frame_larger_than_the_log_is_refused(tmp_path):
    with FrameLog(str(tmp_path), max_bytes=1000) as log:
        log.append(encoded(0))
        with pytest.raises(LogFull, match="larger than the log"):
            log.append(sized(1, 2000))
        assert sequences(log) == [0]


def test_only_whole_frames_are_taken(tmp_path):
    with FrameLog(str(tmp_path)) as log:
        for bad in (b"", encoded()[:-1], encoded() + b"x", encoded() * 2):
            with pytest.raises(FrameError):
                log.append(bad)
        assert segments(tmp_path) == []


class Disk:
    """Writes until it is full; then a part, then an error."""

    def __init__(self, room):
        self.room = room

    def write(self, fd, data):
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = os.write(fd, data[: min(self.room, 100)])
        self.room -= written
        return written


@pytest.mark.parametrize("extra", [0, 1, 36, 150])
def test_a_full_disk_leaves_the_log_as_it_was(tmp_path, extra):
    disk = Disk(len(encoded(0)) + extra)
    with FrameLog(str(tmp_path), write=disk.write) as log:
        log.append(encoded(0))
        with pytest.raises(LogFull, match="No space left"):
            log.append(encoded(1))
        (segment,) = tmp_path.glob("*.pfl")
        assert segment.read_bytes() == encoded(0)
        disk.room = 10_000
        log.append(encoded(2))
        assert sequences(log) == [0, 2]
        assert log.damaged == 0


def test_other_write_errors_are_passed_on_and_undone(tmp_path):
    def broken(_fd, _data):
        raise OSError(errno.EIO, "Input/output error")

    with FrameLog(str(tmp_path), write=broken) as log:
        with pytest.raises(OSError, match="Input/output"):
            log.append(encoded(0))
        assert log.pending() == []


def test_one_writer_at_a_time(tmp_path):
    with FrameLog(str(tmp_path)), pytest.raises(LogBusy):
        FrameLog(str(tmp_path))
    FrameLog(str(tmp_path)).close()


def test_a_writer_that_was_killed_leaves_no_lock(tmp_path):
    program = (
        "import os, sys; from pfscope.frames import FrameLog\n"
        "log = FrameLog(sys.argv[1]); log.append(sys.stdin.buffer.read()); os.kill(os.getpid(), 9)"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    assert subprocess.run(command, input=encoded(0)).returncode == -9
    with FrameLog(str(tmp_path)) as log:
        assert sequences(log) == [0]


def test_positions_that_are_gone(tmp_path):
    with FrameLog(str(tmp_path), segment_bytes=1) as log:
        position = log.append(encoded(0))
        log.append(encoded(1))
        log.acknowledge([position])
        with pytest.raises(FrameError, match="deleted"):
            log.read(position)
        log.acknowledge([position])
        assert sequences(log) == [1]


def test_appending_and_acknowledging_from_two_threads(tmp_path):
    with FrameLog(str(tmp_path), segment_bytes=5000) as log:
        seen = []

        def consume():
            while len(seen) < 200:
                for position in log.pending(limit=3):
                    seen.append(decode(log.read(position)).origin.sequence)
                    log.acknowledge([position])

        consumer = threading.Thread(target=consume)
        consumer.start()
        for i in range(200):
            log.append(encoded(i))
        consumer.join()
        assert seen == list(range(200))
        assert len(log) == 0


def test_reading_a_file_a_log_and_a_tree_of_logs(tmp_path):
    for server in ("oss1", "mds1"):
        with FrameLog(str(tmp_path / server), segment_bytes=1) as log:
            for i in range(3):
                log.append(encoded(i, server=server))
    keys = [frame.key[::2] for frame in iter_frames(str(tmp_path))]
    assert keys == [(s, i) for s in ("mds1", "oss1") for i in range(3)]
    assert len(list(iter_frames(str(tmp_path / "oss1")))) == 3
    assert len(list(iter_frames(str(tmp_path / "oss1" / f"{1:016}.pfl")))) == 1
    with pytest.raises(FileNotFoundError):
        list(iter_frames(str(tmp_path / "nothing.pfl")))


def test_readers_are_told_of_damage_with_its_file(tmp_path):
    path = tmp_path / f"{1:016}.pfl"
    path.write_bytes(encoded(0) + b"??" + encoded(1))
    told = []
    frames = list(iter_frames(str(path), lambda name, damage: told.append((name, damage))))
    assert [frame.origin.sequence for frame in frames] == [0, 1]
    assert told == [(str(path), Damage(len(encoded(0)), 2, "no frame begins here"))]
