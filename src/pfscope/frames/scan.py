"""Reads frames one after another from a file in any condition; every byte of it is accounted for.

What comes out covers the file without gap or overlap: whole frames, and stretches of damage. After
damage reading goes on at the next mark whose head and body check. Where a head is sound and only
its body is damaged, the frame's extent is believed as soon as another frame (or the end) follows
it, so that frames quoted inside a payload fool nobody. Memory holds one frame at a time, and
the time is linear in the file's size whatever it holds.
"""

import os
import zlib
from typing import BinaryIO, Iterator, NamedTuple, Optional, Tuple, Union

from pfscope.frames.errors import FrameError
from pfscope.frames.frame import Frame, decode_body
from pfscope.frames.record import HEAD_BYTES, MARK, Head, unpack_head

_WINDOW = 64 << 10
_CHUNK = 1 << 20
_PATIENCE = 8
"""Bodies may be read in vain this many times the file's size; then heads are believed."""


class Record(NamedTuple):
    """A frame whose head checks, and whose body does if it was asked for."""

    offset: int
    head: Head
    body: Optional[bytes]

    @property
    def length(self) -> int:
        """Bytes of the frame."""
        return self.head.length


class Found(NamedTuple):
    """A whole frame and where it lies."""

    offset: int
    length: int
    frame: Frame


class Damage(NamedTuple):
    """A stretch that is no frame, and why."""

    offset: int
    length: int
    reason: str


def scan(file: BinaryIO, start: int = 0) -> Iterator[Union[Found, Damage]]:
    """Yield what a seekable file holds from `start` on."""
    for item in records(file, start):
        if isinstance(item, Damage):
            yield item
            continue
        assert item.body is not None
        try:
            yield Found(item.offset, item.length, decode_body(item.head, item.body))
        except FrameError as error:
            yield Damage(item.offset, item.length, str(error))


def records(file: BinaryIO, start: int = 0, bodies: bool = True) -> Iterator[Union[Record, Damage]]:
    """Yield records and damage; without `bodies` only heads are read, and believed."""
    walk = _Walk(file, bodies)
    offset = start
    while offset < walk.size:
        item = walk.at(offset)
        yield item
        offset = item.offset + item.length


class _Walk:
    def __init__(self, file: BinaryIO, bodies: bool) -> None:
        self.size = file.seek(0, os.SEEK_END)
        self._file = file
        self._bodies = bodies
        self._patience = _PATIENCE * self.size

    def at(self, offset: int) -> Union[Record, Damage]:
        record, reason, end = self._try(offset)
        if record:
            return record
        if not end:
            end = self._next_record(offset + 1)
        return Damage(offset, end - offset, reason)

    def _try(self, offset: int) -> Tuple[Optional[Record], str, int]:
        """Return the record at `offset`, or what is wrong and, where known, where it ends."""
        try:
            head = unpack_head(self._read(offset, HEAD_BYTES))
        except FrameError as error:
            return None, str(error), 0
        end = offset + head.length
        if end > self.size:
            return None, "the file ends within a frame", 0
        if not self._bodies:
            return Record(offset, head, None), "", end
        body = self._read(offset + HEAD_BYTES, head.length - HEAD_BYTES)
        if zlib.crc32(body) == head.body_crc:
            return Record(offset, head, body), "", end
        self._patience -= head.length
        believed = self._patience < 0 or end == self.size or self._head_at(end)
        return None, "the body is damaged", end if believed else 0

    def _head_at(self, offset: int) -> bool:
        try:
            unpack_head(self._read(offset, HEAD_BYTES))
        except FrameError:
            return False
        return True

    def _next_record(self, offset: int) -> int:
        """Return where the next good record begins at or after `offset`, else the end."""
        for mark in self._marks(offset):
            if mark < offset:
                continue
            record, _reason, end = self._try(mark)
            if record:
                return mark
            offset = end
        return self.size

    def _marks(self, offset: int) -> Iterator[int]:
        while offset < self.size:
            window = self._read(offset, _WINDOW)
            found = window.find(MARK)
            while found >= 0:
                yield offset + found
                found = window.find(MARK, found + 1)
            # A mark may lie across the border of two windows.
            offset += max(1, len(window) - len(MARK) + 1)

    def _read(self, offset: int, length: int) -> bytes:
        self._file.seek(offset)
        chunks = []
        while length > 0:
            chunk = self._file.read(min(length, _CHUNK))
            if not chunk:
                break
            chunks.append(chunk)
            length -= len(chunk)
        return b"".join(chunks)
