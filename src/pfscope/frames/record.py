r"""The bytes of a frame: head, body, checksums; a head that passes here can be trusted.

A frame is a head of 36 bytes and a body. All numbers are big-endian.

    offset  size  field
         0     8  mark            89 50 46 46 0D 0A 1A 0A  ("\x89PFF\r\n\x1a\n")
         8     1  version         1
         9     1  flags           0; a reader leaves frames with other flags alone
        10     2  reserved        0
        12     4  meta length     at most 16 MiB
        16     4  payload length  at most 256 MiB
        20     8  wall time       nanoseconds since 1970, signed
        28     4  body checksum   CRC-32 of meta and payload
        32     4  head checksum   CRC-32 of the 32 bytes before
        36     …  meta            JSON object, ASCII
         …     …  payload         zlib stream (RFC 1950) of the raw texts, one after another

The meta object holds `server`, `epoch`, `sequence`, `monotonic_ns`, `interval_s`,
`effective_interval_s`, `filesystems` (names), `sections` (`[name, raw size, microseconds]`, in the
order of their texts) and `notes` (an object with whatever the writer wants people to know).

The head has a checksum of its own: a damaged length can lead no reader astray. The mark begins with
a byte outside ASCII and holds line ends of two kinds, so that a transfer as text is noticed.
"""

import struct
import zlib
from typing import NamedTuple

from pfscope.frames.errors import FrameError

MARK = b"\x89PFF\r\n\x1a\n"
VERSION = 1
META_LIMIT = 16 << 20
PAYLOAD_LIMIT = 256 << 20

_FIELDS = struct.Struct(">8sBBHIIqI")
_CHECKSUM = struct.Struct(">I")
HEAD_BYTES = _FIELDS.size + _CHECKSUM.size


class Head(NamedTuple):
    """The head of a frame whose checksum holds."""

    version: int
    flags: int
    meta_bytes: int
    payload_bytes: int
    wall_ns: int
    body_crc: int
    head_crc: int

    @property
    def length(self) -> int:
        """Bytes of the whole frame."""
        return HEAD_BYTES + self.meta_bytes + self.payload_bytes

    @property
    def readable(self) -> bool:
        """Whether this program knows the version and the flags."""
        return self.version == VERSION and self.flags == 0


def pack_head(meta_bytes: int, payload_bytes: int, wall_ns: int, body_crc: int) -> bytes:
    """Return the head for a body; a body beyond the limits is a `FrameError`."""
    if meta_bytes > META_LIMIT or payload_bytes > PAYLOAD_LIMIT:
        raise FrameError("a frame of %d bytes is too large" % (meta_bytes + payload_bytes))
    fields = _FIELDS.pack(MARK, VERSION, 0, 0, meta_bytes, payload_bytes, wall_ns, body_crc)
    return fields + _CHECKSUM.pack(zlib.crc32(fields))


def unpack_head(data: bytes) -> Head:
    """Read the head at the beginning of `data`; anything wrong is a `FrameError`."""
    if not data.startswith(MARK):
        raise FrameError("no frame begins here")
    if len(data) < HEAD_BYTES:
        raise FrameError("the head is cut off")
    head_crc = _CHECKSUM.unpack_from(data, _FIELDS.size)[0]
    if zlib.crc32(data[: _FIELDS.size]) != head_crc:
        raise FrameError("the head is damaged")
    _mark, version, flags, _zero, meta, payload, wall_ns, body_crc = _FIELDS.unpack_from(data)
    if meta > META_LIMIT or payload > PAYLOAD_LIMIT:
        raise FrameError("the head declares a frame beyond all limits")
    return Head(version, flags, meta, payload, wall_ns, body_crc, head_crc)
