"""What the spectator understands of frames, against snapshots whose numbers are known."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from pfscope.frames import Frame, FrameBuilder, FrameLog, Origin, Section, decode
from pfscope.lab.dialects import DIALECTS, Kind
from pfscope.lab.spectator import Spectator, SpoolReader
from pfscope.lab.tables import ServerSnapshot
from pfscope.lab.text import server_sections
from tests.support.lab_snapshots import IDS, server_snapshot


def encoded(snapshot: ServerSnapshot, sequence: int = 0) -> bytes:
    builder = FrameBuilder()
    for name, text in server_sections(snapshot.dialect, snapshot):
        builder.section(Section(name, text))
    return builder.finish(Origin(snapshot.server, "boot.1", sequence, 10**18))


def frame(snapshot: ServerSnapshot, sequence: int = 0) -> Frame:
    return decode(encoded(snapshot, sequence))


def later(snapshot: ServerSnapshot, seconds: float, more: int, row: int = 0) -> ServerSnapshot:
    """The same server after `more` requests of each operation by the entry in a row."""
    table = snapshot.tables[0]
    samples = table.samples.copy()
    samples[row] += np.uint64(more)
    host = dataclasses.replace(snapshot.host, uptime_s=snapshot.host.uptime_s + seconds)
    tables = [dataclasses.replace(table, samples=samples), *snapshot.tables[1:]]
    return dataclasses.replace(snapshot, tables=tables, host=host)


def test_the_first_frame_shows_who_is_there_but_not_who_is_busy() -> None:
    seen = Spectator().see(frame(server_snapshot(DIALECTS["2.16"], "ost")))
    assert (seen.server, seen.entries, seen.defects) == ("oss1", len(IDS), 0)
    assert seen.classes["sound"] == 2
    assert seen.classes["blank"] == 1
    assert (seen.seconds, seen.requests, seen.users) == (0.0, 0, {})


@pytest.mark.parametrize(
    ("name", "kind", "operations"),
    [
        ("2.7", "ost", 12),
        ("2.12", "mdt", 17),  # of 19, two are parts of rename
        ("2.15", "ost", 13),  # of 15, read and write are counted as read_bytes and write_bytes
        ("2.17", "mdt", 19),
    ],
)
def test_requests_are_counted_once(name: str, kind: Kind, operations: int) -> None:
    snapshot = server_snapshot(DIALECTS[name], kind)
    spectator = Spectator()
    spectator.see(frame(snapshot))
    seen = spectator.see(frame(later(snapshot, 30.0, more=10), 1))
    assert seen.seconds == pytest.approx(30.0)
    assert seen.requests == 10 * operations
    assert seen.users == {b"17627127": 10 * operations}
    assert seen.jobs == {b"11317854": 10 * operations}


def test_an_entry_that_began_again_counts_from_zero() -> None:
    snapshot = server_snapshot(DIALECTS["2.12"], "ost")
    spectator = Spectator()
    spectator.see(frame(later(snapshot, 0.0, more=1000)))
    seen = spectator.see(frame(later(snapshot, 10.0, more=3), 1))
    table = later(snapshot, 10.0, more=3).tables[0]
    assert seen.requests == int(table.samples[0].sum())


def test_a_server_that_rebooted_is_not_compared_with_its_past() -> None:
    snapshot = server_snapshot(DIALECTS["2.12"], "ost")
    spectator = Spectator()
    spectator.see(frame(snapshot))
    seen = spectator.see(frame(later(snapshot, -5000.0, more=10), 1))
    assert (seen.seconds, seen.requests) == (0.0, 0)


def test_a_spool_is_read_once_while_it_grows(tmp_path: Path) -> None:
    snapshot = server_snapshot(DIALECTS["2.12"], "ost")
    reader = SpoolReader(tmp_path / "spool")
    assert list(reader.new_frames()) == []
    with FrameLog(str(tmp_path / "spool")) as log:
        log.append(encoded(snapshot, 0))
        assert [f.origin.sequence for f in reader.new_frames()] == [0]
        log.append(encoded(snapshot, 1))
        log.append(encoded(snapshot, 2))
        assert [f.origin.sequence for f in reader.new_frames()] == [1, 2]
        assert list(reader.new_frames()) == []


def test_half_a_frame_waits_for_its_other_half(tmp_path: Path) -> None:
    whole = encoded(server_snapshot(DIALECTS["2.12"], "ost"))
    path = tmp_path / "0000000000000000.pfl"
    path.write_bytes(whole[:-100])
    reader = SpoolReader(tmp_path)
    assert list(reader.new_frames()) == []
    path.write_bytes(whole)
    assert len(list(reader.new_frames())) == 1
