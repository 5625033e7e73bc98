"""One segment file of a log: where its frames lie, and which of them are acknowledged.

The index is kept in flat arrays (about 20 bytes for each frame), so that a long backlog fits in
memory. Acknowledgements lie beside the segment (`NNNNNNNNNNNNNNNN.ack`) as records of 16 bytes:
offset (8), the frame's head checksum (4), checksum of the 12 bytes before (4). An acknowledgement
counts only for the very frame it names; one that is lost or damaged only means that its frame is
sent once more.
"""

import os
import struct
import zlib
from array import array
from bisect import bisect_left
from contextlib import suppress
from typing import Iterator, List, NamedTuple, Optional, Tuple

from pfscope.frames.record import Head
from pfscope.frames.scan import Damage, records

SEGMENT_SUFFIX = ".pfl"
ACK_SUFFIX = ".ack"
_ACK = struct.Struct(">QI")
_CHECKSUM = struct.Struct(">I")
_ACK_BYTES = _ACK.size + _CHECKSUM.size


class Position(NamedTuple):
    """Where a log keeps a frame; positions grow in the order of appending."""

    segment: int
    offset: int
    length: int


class Segment:
    """The index of one segment file."""

    def __init__(self, directory: str, number: int) -> None:
        name = os.path.join(directory, "%016d" % number)
        self.number = number
        self.path = name + SEGMENT_SUFFIX
        self.ack_path = name + ACK_SUFFIX
        self.size = 0
        self.damaged = 0
        self.pending_count = 0
        self.oldest_ns: Optional[int] = None
        self.newest_ns: Optional[int] = None
        self._offsets = array("Q")
        self._lengths = array("I")
        self._crcs = array("I")
        self._done = bytearray()

    def load(self, last: bool) -> None:
        """Index the file; the last one of a log is checked to the end and its torn tail cut."""
        with open(self.path, "rb") as file:
            for item in records(file, bodies=last):
                if isinstance(item, Damage):
                    self.damaged += 1
                else:
                    self.size = item.offset
                    self.add(item.head)
            end = file.seek(0, os.SEEK_END)
        if last and self.size < end:
            os.truncate(self.path, self.size)
        else:
            self.size = end
        if self.newest_ns is None:
            self.newest_ns = int(os.stat(self.path).st_mtime * 1e9)
        for offset, head_crc in self._stored_acks():
            index = self._index(offset)
            if index is not None and self._crcs[index] == head_crc:
                self._mark(index)

    def add(self, head: Head) -> Position:
        """Index a frame that begins where the segment ended so far."""
        position = Position(self.number, self.size, head.length)
        self._offsets.append(self.size)
        self._lengths.append(head.length)
        self._crcs.append(head.head_crc)
        self._done.append(0)
        self.pending_count += 1
        self.size += head.length
        if self.oldest_ns is None or self.newest_ns is None:
            self.oldest_ns = self.newest_ns = head.wall_ns
        self.oldest_ns = min(self.oldest_ns, head.wall_ns)
        self.newest_ns = max(self.newest_ns, head.wall_ns)
        return position

    def pending(self, newest_first: bool) -> Iterator[Position]:
        """Yield the frames that are not acknowledged."""
        find = self._done.rfind if newest_first else self._done.find
        index = find(b"\0")
        while index >= 0:
            yield Position(self.number, self._offsets[index], self._lengths[index])
            index = find(b"\0", 0, index) if newest_first else find(b"\0", index + 1)

    def acknowledge(self, offsets: List[int]) -> None:
        """Mark frames as acknowledged and note it beside the segment."""
        stored = bytearray()
        for offset in offsets:
            index = self._index(offset)
            if index is not None and self._mark(index):
                entry = _ACK.pack(offset, self._crcs[index])
                stored += entry + _CHECKSUM.pack(zlib.crc32(entry))
        # Where the disk is full, these frames are sent once more after a restart.
        with suppress(OSError):
            self._store_acks(bytes(stored))

    def remove(self) -> None:
        """Delete the segment; its acknowledgements go first, so that none outlives it."""
        for path in (self.ack_path, self.path):
            with suppress(FileNotFoundError):
                os.unlink(path)

    def _index(self, offset: int) -> Optional[int]:
        index = bisect_left(self._offsets, offset)
        found = index < len(self._offsets) and self._offsets[index] == offset
        return index if found else None

    def _mark(self, index: int) -> bool:
        if self._done[index]:
            return False
        self._done[index] = 1
        self.pending_count -= 1
        return True

    def _store_acks(self, stored: bytes) -> None:
        with open(self.ack_path, "ab", buffering=0) as file:
            # A write that was cut short must not shift the records after it.
            end = file.tell() // _ACK_BYTES * _ACK_BYTES
            file.truncate(end)
            file.write(stored)

    def _stored_acks(self) -> Iterator[Tuple[int, int]]:
        try:
            with open(self.ack_path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return
        for start in range(0, len(data) - _ACK_BYTES + 1, _ACK_BYTES):
            entry = data[start : start + _ACK.size]
            if _CHECKSUM.unpack_from(data, start + _ACK.size)[0] == zlib.crc32(entry):
                yield _ACK.unpack(entry)
