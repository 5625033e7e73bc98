"""What is sent and when: fresh first, nothing forgotten, later and later when it fails."""

import errno
import json
from itertools import chain

import pytest

from pfscope.agent.post import Reply, SendError
from pfscope.agent.say import Sayer, Tally
from pfscope.agent.send import BATCH_BYTES, Sender, SenderThread
from pfscope.frames import FrameLog, decode
from tests.support.frame_samples import encoded, sized


class World:
    """A log, a server that answers as told, and a clock that a test moves."""

    def __init__(self, directory, rate=1e12, chance=1.0):
        self.log = FrameLog(str(directory))
        self.now = 100.0
        self.tally = Tally()
        self.sent = []
        self.answer = self.all_stored
        self.sender = Sender(
            self.log, self.post, rate, Sayer(), self.tally, lambda: self.now, lambda: chance
        )

    def post(self, body):
        frames = []
        while body:
            from_head = int.from_bytes(body[12:16], "big") + int.from_bytes(body[16:20], "big") + 36
            frames.append(decode(body[:from_head]))
            body = body[from_head:]
        self.sent.append([frame.origin.sequence for frame in frames])
        return self.answer(frames)

    def all_stored(self, frames):
        return verdicts(frames, ["stored"] * len(frames))

    def step(self):
        delay = self.sender.step()
        if delay != float("inf"):
            self.now += delay
        return delay


def verdicts(frames, statuses):
    items = [
        {"server": f.key[0], "epoch": f.key[1], "sequence": f.key[2], "status": status}
        for f, status in zip(frames, statuses, strict=True)
    ]
    return Reply(200, 0.0, json.dumps({"frames": items}).encode())


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    yield made
    made.log.close()


def append(world, *sequences):
    for sequence in sequences:
        world.log.append(encoded(sequence))


def test_nothing_to_send(world):
    assert world.step() == float("inf")
    assert world.sent == []


def test_the_newest_goes_first_then_the_oldest(world):
    append(world, *range(5))
    world.step()
    assert world.sent == [[4, 0, 1, 2, 3]]
    assert world.log.pending() == []


def test_a_backlog_goes_in_batches_and_each_begins_with_what_is_fresh(world):
    for i in range(8):
        world.log.append(sized(i, BATCH_BYTES // 4))
    world.step()
    append(world, 99)
    while world.step() != float("inf"):
        pass
    assert world.sent[0] == [7, 0, 1]
    assert world.sent[1][0] == 99
    assert sorted(chain.from_iterable(world.sent)) == [*range(8), 99]


def test_a_frame_larger_than_a_batch_goes_alone(world):
    world.log.append(sized(0, BATCH_BYTES + 1000))
    append(world, 1)
    while world.step() != float("inf"):
        pass
    assert sorted(chain.from_iterable(world.sent)) == [0, 1]


@pytest.mark.parametrize("status", ["stored", "duplicate", "rejected"])
def test_what_the_server_names_leaves_the_spool(world, status):
    append(world, 0, 1)
    world.answer = lambda frames: verdicts(frames, [status] * len(frames))
    world.step()
    assert world.log.pending() == []
    assert world.tally.counts() == ({"rejected": 2} if status == "rejected" else {})


KEPT = {
    "retry": lambda frames: verdicts(frames, ["retry"] * len(frames)),
    "unknown status": lambda frames: verdicts(frames, ["eaten"] * len(frames)),
    "names nothing": lambda _frames: Reply(200, 0.0, b'{"frames": []}'),
    "names others": lambda _frames: verdicts([decode(encoded(7, server="x"))], ["stored"]),
    "no JSON": lambda _frames: Reply(200, 0.0, b"<html>"),
    "another JSON": lambda _frames: Reply(200, 0.0, b"[1, 2]"),
    "items are no objects": lambda _frames: Reply(200, 0.0, b'{"frames": [1]}'),
    "sequence is no number": lambda _frames: Reply(
        200, 0.0, b'{"frames": [{"server": "mds1", "epoch": "boot.1", "sequence": "x"}]}'
    ),
    "nested": lambda _frames: Reply(200, 0.0, b"[" * 100_000),
    "empty 204": lambda _frames: Reply(204, 0.0, b""),
    "redirect": lambda _frames: Reply(302, 0.0, b""),
    "forbidden": lambda _frames: Reply(403, 0.0, b""),
    "too many": lambda _frames: Reply(429, 5.0, b""),
    "error": lambda _frames: Reply(500, 0.0, b""),
}


@pytest.mark.parametrize("answer", KEPT.values(), ids=KEPT)
def test_in_every_other_case_frames_stay_and_go_again(world, answer, capsys):
    append(world, 0, 1)
    world.answer = answer
    assert world.step() > 0
    assert len(world.log) == 2
    assert "cannot send" in capsys.readouterr().err
    world.answer = world.all_stored
    while world.step() != float("inf"):
        pass
    assert world.log.pending() == []
    assert "works again" in capsys.readouterr().err


def test_a_part_may_be_stored(world):
    append(world, 0, 1, 2)
    world.answer = lambda frames: verdicts(
        frames, ["retry" if f.origin.sequence == 1 else "stored" for f in frames]
    )
    world.step()
    assert [decode(world.log.read(p)).origin.sequence for p in world.log.pending()] == [1]


def failing(_frames):
    raise SendError("Connection refused")


def test_failures_wait_longer_and_longer_and_probe_with_one_frame(world):
    append(world, 0, 1, 2)
    world.answer = failing
    delays = [world.step() for _ in range(12)]
    assert delays[:5] == [1, 2, 4, 8, 16]
    assert max(delays) == 300
    assert world.sent[0] == [2, 0, 1]
    assert set(map(tuple, world.sent[1:])) == {(2,)}


def test_the_wait_is_random_between_half_and_whole(tmp_path):
    world = World(tmp_path, chance=0.0)
    append(world, 0)
    world.answer = failing
    assert [world.step() for _ in range(3)] == [0.5, 1, 2]
    world.log.close()


def test_a_new_frame_does_not_cut_the_wait_short(world):
    append(world, 0)
    world.answer = failing
    world.sender.step()
    append(world, 1)
    assert world.sender.step() == pytest.approx(1.0)
    assert len(world.sent) == 1


@pytest.mark.parametrize(("asked", "at_least", "at_most"), [(20, 20, 22), (1e9, 3600, 3602)])
def test_retry_after_is_honoured_within_an_hour(world, asked, at_least, at_most):
    append(world, 0)
    world.answer = lambda _frames: Reply(429, asked, b"")
    assert at_least <= world.step() <= at_most


def test_the_rate_is_capped(tmp_path):
    world = World(tmp_path, rate=1000.0)
    append(world, *range(3))
    size = len(encoded(0))
    assert world.step() == pytest.approx(3 * size / 1000, rel=0.05)
    world.log.close()


def test_frames_that_the_token_does_not_cover_are_kept_until_it_does(world):
    append(world, 0, 1)

    def not_allowed(frames):
        items = [
            {"server": f.key[0], "epoch": f.key[1], "sequence": f.key[2],
             "status": "rejected", "reason": "not-allowed: the token may not speak for this server"}
            for f in frames
        ]  # fmt: skip
        return Reply(200, 0.0, json.dumps({"frames": items}).encode())

    world.answer = not_allowed
    world.step()
    assert len(world.log) == 2
    assert world.sender.failing
    assert world.tally.counts() == {}
    world.answer = world.all_stored
    while world.step() != float("inf"):
        pass
    assert len(world.log) == 0


def test_one_frame_too_large_for_the_server_is_rejected_many_are_sent_singly(world):
    append(world, 0, 1)
    world.answer = lambda _frames: Reply(413, 0.0, b"")
    world.step()
    assert len(world.log) == 2
    world.step()
    assert len(world.log) == 1
    assert world.tally.counts() == {"rejected": 1}


def test_damage_in_the_spool_is_passed_by(world, tmp_path):
    append(world, 0, 1)
    (segment,) = tmp_path.glob("*.pfl")
    content = bytearray(segment.read_bytes())
    content[len(encoded(0)) - 1] ^= 1
    segment.write_bytes(content)
    world.step()
    assert world.sent == [[1]]
    assert world.log.damaged == 1
    assert world.log.pending() == []


def test_a_spool_file_that_was_deleted_is_passed_by(world, tmp_path):
    append(world, 0, 1)
    for segment in tmp_path.glob("*.pfl"):
        segment.unlink()
    while world.step() != float("inf"):
        pass
    assert world.sent == []
    assert world.log.damaged == 2


def test_a_spool_that_cannot_be_read_now_is_read_later(world, monkeypatch):
    append(world, 0)
    no_more_files = OSError(errno.EMFILE, "Too many open files")
    with monkeypatch.context() as patch:
        patch.setattr(world.log, "read", lambda _position: (_ for _ in ()).throw(no_more_files))
        assert world.step() > 0
    world.step()
    assert world.sent == [[0]]


def test_a_bug_in_the_sending_ends_the_agent_and_not_the_sending_alone(world):
    def bug(_frames):
        raise ZeroDivisionError

    append(world, 0)
    world.answer = bug
    thread = SenderThread(world.sender)
    thread.start()
    thread._thread.join(30)
    with pytest.raises(ZeroDivisionError):
        thread.wake()


def test_trouble_is_told_once_and_in_printable_ascii(world, capsys):
    append(world, 0)

    def hostile(_frames):
        raise SendError("\x1b[31mred\nforged line")

    world.answer = hostile
    for _ in range(3):
        world.step()
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert told.isascii()
    assert "\x1b" not in told
