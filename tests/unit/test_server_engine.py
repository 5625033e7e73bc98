"""Journal, feeder and ledger together: whatever fails, each stored frame is committed once."""

import asyncio
import time

import pytest

from pfscope.frames import decode, iter_frames
from pfscope.server.engine import Engine
from pfscope.server.judge import Candidate, Verdict
from pfscope.server.limits import Limits
from tests.support.frame_samples import encoded
from tests.support.server_world import MemoryIngest, MemoryStore, ledger_of, make_engine


def candidate(sequence, server="mds1"):
    data = encoded(sequence, server=server)
    return Candidate(decode(data).key, data)


def keep(engine, *items):
    return [verdict.status for verdict in asyncio.run(engine.keep(items))]


def until(condition):
    for _ in range(2000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it never came true")


def stored(store):
    return sorted(key[2] for key in store.frames)


def test_each_item_has_its_verdict_in_order(tmp_path):
    engine = make_engine(MemoryStore(tmp_path))
    refused = Verdict(("", "", -1), "rejected", "damaged", "4 bytes")
    items = [candidate(0), refused, candidate(1), candidate(0)]
    assert keep(engine, *items) == ["stored", "rejected", "stored", "duplicate"]
    engine.close()


def test_a_frame_is_known_while_journaled_after_commit_and_after_restart(tmp_path):
    store = MemoryStore(tmp_path)
    engine = make_engine(store)
    assert keep(engine, candidate(1)) == ["stored"]
    until(lambda: stored(store) == [1])
    assert keep(engine, candidate(1)) == ["duplicate"]
    engine.close()
    engine = make_engine(store)
    assert keep(engine, candidate(1)) == ["duplicate"]
    engine.close()
    assert stored(store) == [1]


def test_a_failing_store_keeps_frames_in_the_journal_until_it_works_again(tmp_path):
    store = MemoryStore(tmp_path)
    store.failing = True
    engine = make_engine(store)
    assert keep(engine, *map(candidate, range(10))) == ["stored"] * 10
    until(engine.problems)
    assert "the disk is full" in engine.problems()[0]
    store.failing = False
    until(lambda: stored(store) == list(range(10)))
    until(lambda: not engine.problems())
    engine.close()
    assert ledger_of(store)["receive", "mds1", "stored", ""] == 10


def test_what_was_not_committed_at_the_end_is_committed_in_the_next_life_and_counted_once(tmp_path):
    store = MemoryStore(tmp_path)
    store.failing = True
    engine = make_engine(store)
    keep(engine, *map(candidate, range(10)))
    engine.close()
    assert stored(store) == []
    store.failing = False
    engine = make_engine(store)
    until(lambda: stored(store) == list(range(10)))
    engine.close()
    assert ledger_of(store)["receive", "mds1", "stored", ""] == 10
    assert not list(iter_frames(str(tmp_path / "journal")))


def test_a_crash_between_commit_and_release_counts_nothing_twice(tmp_path):
    store = MemoryStore(tmp_path)

    class NoCheckpoint(MemoryIngest):
        def checkpoint(self):
            raise OSError(28, "No space left on device")

    engine = Engine(store, NoCheckpoint, Limits(), checkpoint_s=0.01)
    keep(engine, *map(candidate, range(10)))
    until(lambda: engine.state().troubles["memory"])
    assert keep(engine, candidate(9)) == ["duplicate"]
    engine.close()
    engine = make_engine(store)
    keep(engine, candidate(10))
    until(lambda: stored(store) == list(range(11)))
    engine.close()
    assert ledger_of(store)["ingest", "mds1", "stored", ""] == 11
    assert ledger_of(store)["receive", "mds1", "stored", ""] == 11


def test_a_frame_that_is_damaged_in_the_journal_is_counted_as_dropped(tmp_path):
    store = MemoryStore(tmp_path)
    store.failing = True
    engine = make_engine(store)
    keep(engine, candidate(0), candidate(1), candidate(2))
    until(engine.problems)
    (segment,) = (tmp_path / "journal").glob("*.pfl")
    data = bytearray(segment.read_bytes())
    data[len(encoded(0)) + 60] ^= 0xFF
    segment.write_bytes(data)
    store.failing = False
    until(lambda: stored(store) == [0, 2])
    engine.close()
    assert ledger_of(store)["receive", "mds1", "dropped", "journal-damaged"] == 1


def test_names_of_servers_are_bounded(tmp_path):
    store = MemoryStore(tmp_path)
    engine = make_engine(store, Limits(servers=2))
    items = [candidate(0, f"s{i}") for i in range(5)]
    assert keep(engine, *items) == ["stored"] * 2 + ["rejected"] * 3
    assert keep(engine, candidate(1, "s1")) == ["stored"]
    engine.close()
    assert ledger_of(store)["receive", "", "rejected", "servers"] == 3
    assert {key[1] for key in store.counts} == {"", "s0", "s1"}


def test_counts_that_wait_are_shown_with_those_in_the_store(tmp_path):
    store = MemoryStore(tmp_path)
    store.failing = True
    engine = make_engine(store)
    keep(engine, Verdict(("", "", -1), "rejected", "damaged", "4 bytes"))
    lines = {(line.outcome, line.reason): line.frames for line in engine.ledger()}
    assert lines == {("received", ""): 1, ("rejected", "damaged"): 1}
    store.failing = False
    until(lambda: store.counts)
    engine.close()
    assert ledger_of(store)["receive", "", "rejected", "damaged"] == 1


class Fragile(MemoryIngest):
    """Breaks on some frames, as a fault of ours would."""

    breaks_on = staticmethod(lambda sequence: sequence == 3)

    def take(self, frames):
        if any(self.breaks_on(frame.origin.sequence) for frame in frames):
            raise OverflowError("too large to convert")
        super().take(frames)


def test_a_frame_that_breaks_the_ingest_is_put_aside_and_stops_no_other(tmp_path):
    store = MemoryStore(tmp_path)
    engine = Engine(store, Fragile, Limits(), checkpoint_s=0.05)
    assert keep(engine, *map(candidate, range(10))) == ["stored"] * 10
    until(lambda: stored(store) == [0, 1, 2, 4, 5, 6, 7, 8, 9])
    until(lambda: not engine.problems())
    assert keep(engine, candidate(3)) == ["duplicate"]
    engine.close()
    assert ledger_of(store)["receive", "mds1", "dropped", "put-aside"] == 1
    (aside,) = iter_frames(str(tmp_path / "quarantine" / "frames"))
    assert aside.origin.sequence == 3
    engine = Engine(store, Fragile, Limits())
    assert keep(engine, candidate(10)) == ["stored"]
    engine.close()
    assert stored(store) == [0, 1, 2, 4, 5, 6, 7, 8, 9, 10]


def test_an_ingest_that_breaks_on_everything_leaves_most_where_they_are(tmp_path):
    class Broken(Fragile):
        breaks_on = staticmethod(lambda _sequence: True)

    store = MemoryStore(tmp_path)
    engine = Engine(store, Broken, Limits())
    keep(engine, *map(candidate, range(200)))
    quarantine = tmp_path / "quarantine" / "frames"
    until(lambda: quarantine.is_dir() and len(list(iter_frames(str(quarantine)))) == 64)
    assert engine.problems()
    engine.close()
    aside = {f.origin.sequence for f in iter_frames(str(quarantine))}
    left = {f.origin.sequence for f in iter_frames(str(tmp_path / "journal"))}
    assert aside | left >= set(range(200))
    engine = make_engine(store)
    until(lambda: set(stored(store)) == set(range(200)) - aside)
    engine.close()


@pytest.mark.parametrize("frames", [3, 300])
def test_closing_leaves_nothing_that_was_stored_behind(tmp_path, frames):
    store = MemoryStore(tmp_path)
    engine = make_engine(store)
    keep(engine, *map(candidate, range(frames)))
    engine.close()
    engine = make_engine(store)
    until(lambda: stored(store) == list(range(frames)))
    engine.close()
