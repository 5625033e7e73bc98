"""The journal: stored means synced, one sync for many, and no trouble that loses or doubles."""

import os
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from pfscope.errors import InputError
from pfscope.frames import FrameLog, LogFull, decode, iter_frames
from pfscope.frames.segment import Segment
from pfscope.server import room
from pfscope.server.journal import Archive, Journal
from pfscope.server.judge import Candidate
from pfscope.server.limits import Limits
from tests.support.frame_samples import encoded, sized


def candidate(sequence, size=0):
    data = sized(sequence, size) if size else encoded(sequence)
    return Candidate(decode(data).key, data)


def opened(directory, kept=None, **more):
    journal = Journal(directory / "journal", more.pop("limits", Limits(free_bytes=1)), **more)
    left = journal.left()
    journal.start((kept if kept is not None else []).extend)
    return journal, left


def closed(journal):
    journal.finish()
    journal.close()


def statuses(journal, *candidates):
    return [verdict.status for verdict in journal.hand_in(candidates).result(20)]


def sequences(directory):
    return [frame.origin.sequence for frame in iter_frames(str(directory / "journal"))]


def test_what_was_stored_is_left_for_the_next_life_in_order(tmp_path):
    journal, _ = opened(tmp_path)
    assert statuses(journal, *map(candidate, range(5))) == ["stored"] * 5
    closed(journal)
    journal, left = opened(tmp_path)
    assert [kept.key[2] for kept in left] == list(range(5))
    assert journal.read(left[3]).origin.sequence == 3
    closed(journal)


def test_a_repeat_is_a_duplicate_in_one_request_across_requests_and_after_a_restart(tmp_path):
    journal, _ = opened(tmp_path)
    assert statuses(journal, candidate(1), candidate(1)) == ["stored", "duplicate"]
    assert statuses(journal, candidate(1)) == ["duplicate"]
    closed(journal)
    journal, _ = opened(tmp_path)
    assert statuses(journal, candidate(1)) == ["duplicate"]
    closed(journal)
    assert sequences(tmp_path) == [1]


def test_a_released_frame_is_still_known_and_its_segment_goes(tmp_path):
    kept = []
    journal, _ = opened(tmp_path, kept)
    statuses(journal, candidate(1))
    journal.release(kept)
    assert statuses(journal, candidate(1)) == ["duplicate"]
    closed(journal)
    assert sequences(tmp_path) == []


def test_many_requests_share_one_sync(tmp_path, monkeypatch):
    gate = threading.Event()
    journal, _ = opened(tmp_path)
    sync = journal._log.sync
    monkeypatch.setattr(journal._log, "sync", lambda: (gate.wait(20), sync()))
    answers = [journal.hand_in([candidate(i)]) for i in range(50)]
    assert not answers[0].done()
    gate.set()
    assert {answer.result(20)[0].status for answer in answers} == {"stored"}
    # The first may go alone; the rest came while it was being synced.
    assert journal.figures().syncs <= 2
    closed(journal)


def test_every_segment_is_synced_before_the_answer(tmp_path, monkeypatch):
    synced = set()
    fsync = os.fsync

    def noted(descriptor):
        synced.add(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    journal, _ = opened(tmp_path)
    frames = [candidate(i, 9 << 20) for i in range(4)]
    assert statuses(journal, *frames) == ["stored"] * 4
    segments = {str(path) for path in (tmp_path / "journal").glob("*.pfl")}
    assert len(segments) > 1
    assert segments <= synced
    closed(journal)


def test_a_sync_that_fails_stores_nothing_and_the_next_one_goes_on(tmp_path, monkeypatch):
    kept = []
    journal, _ = opened(tmp_path, kept)
    statuses(journal, candidate(0))
    with monkeypatch.context() as patch:
        patch.setattr(journal._log, "sync", lambda: (_ for _ in ()).throw(OSError(5, "I/O error")))
        assert statuses(journal, candidate(1), candidate(1)) == ["retry", "retry"]
    assert "I/O error" in journal.problem()
    assert statuses(journal, candidate(1)) == ["stored"]
    assert journal.problem() == ""
    assert [k.key[2] for k in kept] == [0, 1]
    assert [journal.read(k).origin.sequence for k in kept] == [0, 1]
    closed(journal)
    journal, left = opened(tmp_path)
    assert [k.key[2] for k in left] == [0, 1]
    closed(journal)


def test_a_full_disk_defers_and_recovers(tmp_path, monkeypatch):
    journal, _ = opened(tmp_path)
    with monkeypatch.context() as patch:

        def full(_encoded):
            raise LogFull("no room for a frame: No space left on device")

        patch.setattr(journal._log, "append", full)
        (verdict,) = journal.hand_in([candidate(1)]).result(20)
    assert verdict.status == "retry"
    assert "No space left" in verdict.reason
    assert statuses(journal, candidate(1)) == ["stored"]
    closed(journal)


def test_a_nearly_full_disk_and_a_full_journal_defer_what_is_new(tmp_path, monkeypatch):
    journal, _ = opened(tmp_path, limits=Limits(journal_bytes=1, free_bytes=100))
    assert statuses(journal, candidate(0)) == ["stored"]
    assert statuses(journal, candidate(1), candidate(0)) == ["retry", "duplicate"]
    assert journal.problem() == "the journal is full"
    closed(journal)
    free = SimpleNamespace(free=99)
    monkeypatch.setattr(room.shutil, "disk_usage", lambda _path: free)
    journal, _ = opened(tmp_path, limits=Limits(free_bytes=100))
    assert statuses(journal, candidate(2)) == ["retry"]
    assert journal.problem() == "the disk is nearly full"
    closed(journal)


@pytest.mark.parametrize("damage", ["middle", "all", "tail"])
def test_a_corrupt_journal_does_not_stop_the_start_nor_lose_what_follows(tmp_path, damage):
    journal, _ = opened(tmp_path)
    statuses(journal, *map(candidate, range(10)))
    closed(journal)
    (segment,) = (tmp_path / "journal").glob("*.pfl")
    data = bytearray(segment.read_bytes())
    one = len(encoded(0))
    if damage == "middle":
        data[2 * one + 50] ^= 0xFF
    elif damage == "all":
        data = bytearray(b"\xff" * len(data))
    else:
        del data[-10:]
    segment.write_bytes(data)
    expected = {"middle": [0, 1, 3, 4, 5, 6, 7, 8, 9], "all": [], "tail": list(range(9))}
    journal, left = opened(tmp_path)
    assert [kept.key[2] for kept in left] == expected[damage]
    assert statuses(journal, candidate(99)) == ["stored"]
    journal.release(left)
    closed(journal)
    aside = [path.read_bytes() for path in (tmp_path / "quarantine").glob("*")]
    assert aside == ([] if damage == "tail" else [bytes(data)])


def test_a_journal_that_another_process_writes_is_refused(tmp_path):
    journal, _ = opened(tmp_path)
    with pytest.raises(InputError, match="another process"):
        opened(tmp_path)
    closed(journal)


def test_released_frames_can_be_archived(tmp_path):
    kept = []
    journal, _ = opened(tmp_path, kept, archive=Archive(tmp_path / "archive"))
    statuses(journal, candidate(1), candidate(2))
    journal.release(kept)
    closed(journal)
    archived = [frame.origin.sequence for frame in iter_frames(str(tmp_path / "archive"))]
    assert archived == [1, 2]


def test_finishing_answers_what_was_handed_in(tmp_path):
    journal, _ = opened(tmp_path)
    answers = [journal.hand_in([candidate(i)]) for i in range(20)]
    closed(journal)
    assert [answer.result(0)[0].status for answer in answers] == ["stored"] * 20


def test_a_frame_that_the_journal_has_twice_is_left_once(tmp_path):
    with FrameLog(str(tmp_path / "journal")) as written:
        for sequence in (1, 2, 1):
            written.append(encoded(sequence))
    journal, left = opened(tmp_path)
    assert [kept.key[2] for kept in left] == [1, 2]
    journal.release(left)
    closed(journal)
    assert sequences(tmp_path) == []


def test_what_was_released_stays_so_though_a_full_disk_could_not_note_it(tmp_path, monkeypatch):
    kept = []
    journal, _ = opened(tmp_path, kept)
    statuses(journal, candidate(0), candidate(1))

    def no_room(*_arguments):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Segment, "_store_acks", no_room)
        patch.setattr(journal._log, "sync", no_room)
        journal.release(kept[1:])
        assert statuses(journal, candidate(2)) == ["retry"]
    assert statuses(journal, candidate(2)) == ["stored"]
    assert journal.figures().frames == 2
    closed(journal)
    journal, left = opened(tmp_path)
    assert [k.key[2] for k in left] == [0, 2]
    journal.release(left)
    closed(journal)
    assert sequences(tmp_path) == []


def test_an_archive_without_room_stops_nothing_and_is_told(tmp_path, monkeypatch):
    kept = []
    journal, _ = opened(tmp_path, kept, archive=Archive(tmp_path / "archive"))
    statuses(journal, *map(candidate, range(50)))

    def full(_encoded):
        raise LogFull("no room for a frame: No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(journal._archive, "append", full)
        journal.release(kept[:40])
    assert "No space left" in journal.archive_trouble.reason
    journal.release(kept[40:])
    assert journal.archive_trouble.reason == ""
    closed(journal)
    assert len(list(iter_frames(str(tmp_path / "archive")))) == 10
    assert sequences(tmp_path) == []
