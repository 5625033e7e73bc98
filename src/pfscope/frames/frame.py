"""One frame as a value: what one collection on one server read, decoded from its bytes.

A frame is immutable and keeps its payload compressed; raw text is inflated only on demand and never
beyond the sizes that the frame declares. `record` specifies the bytes.
"""

import zlib
from typing import Any, Iterator, Mapping, NamedTuple, Tuple

from pfscope.frames.errors import FrameError
from pfscope.frames.inflate import inflate
from pfscope.frames.meta import Meta, Origin, SectionInfo, decode_meta, encode_meta
from pfscope.frames.record import HEAD_BYTES, Head, pack_head, unpack_head

RAW_LIMIT = 1 << 30
"""Texts beyond this are refused unless the caller says otherwise."""


class Section(NamedTuple):
    """One text as it was read."""

    name: str
    """Lustre's parameter name in lctl's dotted form, an absolute path, or `lctl`."""
    text: bytes
    duration_us: int = 0

    def lctl_form(self) -> bytes:
        """Return the text as `lctl get_param` would print it: `name=`, then the value.

        A section named `lctl` is such a print already; an empty text prints nothing.
        """
        if not self.text:
            return b""
        name = b"" if self.name == "lctl" else self.name.encode("utf-8", "surrogateescape") + b"=\n"
        return name + self.text + (b"" if self.text.endswith(b"\n") else b"\n")


class Frame(NamedTuple):
    """What one collection on one server read."""

    origin: Origin
    contents: Tuple[SectionInfo, ...]
    notes: Mapping[str, Any]
    payload: bytes
    """The zlib stream of all texts, one after another."""

    @property
    def key(self) -> Tuple[str, str, int]:
        """The name of this frame: server, epoch, sequence; no two frames share it."""
        return self.origin.server, self.origin.epoch, self.origin.sequence

    @property
    def raw_bytes(self) -> int:
        """The declared size of all texts."""
        return sum(info.raw_bytes for info in self.contents)

    def sections(self, raw_limit: int = RAW_LIMIT) -> Iterator[Section]:
        """Inflate and yield section by section; a payload that lies is a `FrameError`."""
        if self.raw_bytes > raw_limit:
            raise FrameError("%d bytes of text are more than allowed" % self.raw_bytes)
        blocks = inflate(self.payload, self.raw_bytes)
        buffer = bytearray()
        for info in self.contents:
            while len(buffer) < info.raw_bytes:
                buffer += next(blocks)
            yield Section(info.name, bytes(buffer[: info.raw_bytes]), info.duration_us)
            del buffer[: info.raw_bytes]
        # The rest is empty by now; asking for it checks the stream's own end.
        for _block in blocks:
            pass

    def verify(self) -> None:
        """Inflate everything and keep nothing; a payload that lies is a `FrameError`."""
        for _block in inflate(self.payload, self.raw_bytes):
            pass


def encode(frame: Frame) -> bytes:
    """Return the frame's bytes."""
    meta = encode_meta(Meta(frame.origin, frame.contents, frame.notes))
    crc = zlib.crc32(frame.payload, zlib.crc32(meta))
    head = pack_head(len(meta), len(frame.payload), frame.origin.wall_ns, crc)
    return b"".join((head, meta, frame.payload))


def decode(data: bytes) -> Frame:
    """Read a frame from exactly its bytes; anything else is a `FrameError`."""
    head = unpack_head(data)
    if len(data) != head.length:
        raise FrameError("the frame has %d bytes instead of %d" % (len(data), head.length))
    body = data[HEAD_BYTES:]
    if zlib.crc32(body) != head.body_crc:
        raise FrameError("the body is damaged")
    return decode_body(head, body)


def decode_body(head: Head, body: bytes) -> Frame:
    """Read a body whose checksum has been found right."""
    if not head.readable:
        raise FrameError("version %d, flags %d: too new for this program" % head[:2])
    meta = decode_meta(body[: head.meta_bytes], head.wall_ns)
    return Frame(meta.origin, meta.contents, meta.notes, body[head.meta_bytes :])
