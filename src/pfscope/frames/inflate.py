"""Inflates a payload in blocks: never more bytes than were declared, never many at a time."""

import zlib
from typing import Iterator

from pfscope.frames.errors import FrameError

_INPUT_STEP = 64 << 10
_BLOCK_LIMIT = 256 << 10


def inflate(payload: bytes, raw_bytes: int) -> Iterator[bytes]:
    """Yield exactly `raw_bytes` bytes in blocks; a payload that holds other is a `FrameError`."""
    left = raw_bytes
    stream = zlib.decompressobj()
    try:
        for start in range(0, len(payload), _INPUT_STEP):
            piece = payload[start : start + _INPUT_STEP]
            while piece:
                block = stream.decompress(piece, min(left + 1, _BLOCK_LIMIT))
                left = _take(left, block)
                yield block
                piece = stream.unconsumed_tail
        while not stream.eof:
            block = stream.decompress(b"", min(left + 1, _BLOCK_LIMIT))
            if not block:
                raise FrameError("the payload ends too early")
            left = _take(left, block)
            yield block
    except zlib.error as error:
        raise FrameError("the payload cannot be inflated: %s" % error) from None
    if left or stream.unused_data:
        raise FrameError("the payload is not as long as declared")


def _take(left: int, block: bytes) -> int:
    if len(block) > left:
        raise FrameError("the payload holds more than declared")
    return left - len(block)
