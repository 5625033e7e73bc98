"""Reading files in any condition: good frames are never lost, every byte is accounted for."""

import io
import struct
import zlib

from pfscope.frames import Damage, Found, Section, scan
from pfscope.frames.record import HEAD_BYTES, MARK
from tests.support.frame_samples import encoded, sized

FIRST, SECOND, THIRD = (encoded(i) for i in range(3))


def outline(data):
    """Return what a file holds: sequence numbers, and offsets and lengths of damage."""
    items = list(scan(io.BytesIO(data)))
    ends = [item.offset + item.length for item in items]
    assert [0, *ends] == [*[item.offset for item in items], len(data)] or not data
    return [
        item.frame.origin.sequence if isinstance(item, Found) else (item.offset, item.length)
        for item in items
    ]


def reasons(data):
    return [item.reason for item in scan(io.BytesIO(data)) if isinstance(item, Damage)]


def test_whole_files():
    assert outline(b"") == []
    assert outline(FIRST + SECOND + THIRD) == [0, 1, 2]


def test_scanning_from_an_offset():
    found = list(scan(io.BytesIO(FIRST + SECOND), len(FIRST)))
    assert [item.offset for item in found] == [len(FIRST)]


def test_a_tail_torn_at_every_byte_loses_the_torn_frame_only():
    for cut in range(1, len(SECOND)):
        data = FIRST + SECOND[:cut]
        assert outline(data) == [0, (len(FIRST), cut)]


def test_a_flipped_bit_anywhere_loses_that_frame_only():
    for at in range(len(SECOND)):
        for bit in (0, 7):
            bad = bytearray(FIRST + SECOND + THIRD)
            bad[len(FIRST) + at] ^= 1 << bit
            assert outline(bytes(bad)) == [0, (len(FIRST), len(SECOND)), 2]


def test_bytes_that_vanish_lose_no_frame_behind():
    for at in range(0, len(SECOND), 7):
        data = FIRST + SECOND[:at] + SECOND[at + 5 :] + THIRD
        assert outline(data)[0] == 0
        assert outline(data)[-1] == 2


def test_garbage_between_frames():
    for garbage in (b"x", MARK, MARK * 3 + b"\x89", bytes(70_000), FIRST[:HEAD_BYTES]):
        assert outline(FIRST + garbage + SECOND) == [0, (len(FIRST), len(garbage)), 1]


def test_a_mark_across_the_border_of_two_windows_is_found():
    for pad in range((64 << 10) - 10, (64 << 10) + 2):
        assert outline(bytes(pad) + FIRST) == [(0, pad), 0]


def test_a_whole_frame_inside_a_payload_fools_nobody():
    stored = zlib.compressobj(0)
    quoting = encoded(9, (Section("lctl", FIRST * 3),))
    assert outline(quoting + SECOND) == [9, 1]
    # The same uncompressed, so that the quoted frames lie there byte by byte, and then damaged.
    payload = stored.compress(FIRST * 3) + stored.flush()
    fields = struct.pack(">8sBBHIIqI", MARK, 1, 0, 0, 2, len(payload), 0, 0)
    liar = fields + struct.pack(">I", zlib.crc32(fields)) + b"{}" + payload
    assert FIRST in liar
    assert outline(liar + SECOND) == [(0, len(liar)), 1]
    assert outline(liar) == [(0, len(liar))]


def test_reasons_are_told():
    assert reasons(FIRST[:10]) == ["the head is cut off"]
    assert reasons(FIRST[:-1]) == ["the file ends within a frame"]
    assert reasons(FIRST[:-1] + b"?" + SECOND) == ["the body is damaged"]
    assert reasons(b"?" + FIRST) == ["no frame begins here"]


class CountingFile(io.BytesIO):
    """A file that counts what is read from it."""

    bytes_read = 0

    def read(self, size=-1):
        data = super().read(size)
        self.bytes_read += len(data)
        return data


def test_hostile_heads_cannot_make_reading_quadratic():
    # Thousands of heads, each sound and each declaring a body of many others.
    fields = struct.pack(">8sBBHIIqI", MARK, 1, 0, 0, 0, 300_000, 0, 1)
    head = fields + struct.pack(">I", zlib.crc32(fields))
    file = CountingFile(head * 20_000)
    assert all(isinstance(item, Damage) for item in scan(file))
    assert file.bytes_read < 40 * len(file.getvalue())


def test_a_large_frame_among_small_ones():
    assert outline(FIRST + sized(5, 3 << 20) + SECOND) == [0, 5, 1]
