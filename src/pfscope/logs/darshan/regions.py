"""Regions of a log decompressed, piece by piece and within bounds.

A region is a concatenation of streams, one for each rank or more: it is read until its end.
"""

import bz2
import zlib
from collections.abc import Generator, Iterator
from typing import Final, Protocol

from pfscope.logs.darshan.errors import DarshanError

PIECE: Final = 1 << 20
_FED: Final = 1 << 16
"""Bytes that are given to a stream at once: what follows its end is copied, and must be short."""


class _Stream(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: bytes, max_length: int = ..., /) -> bytes: ...


class _Zlib:
    """zlib with the manners of bz2: what it has not taken yet, it keeps."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj()

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._stream.unconsumed_tail

    def decompress(self, data: bytes, max_length: int = PIECE, /) -> bytes:
        return self._stream.decompress(self._stream.unconsumed_tail or data, max_length)


def pieces(data: memoryview, compression: str, what: str, limit: int) -> Iterator[bytes]:
    """Yield a region's content in pieces of at most `PIECE` bytes.

    DarshanError: it is damaged, or holds more than `limit` bytes.
    """
    total = 0
    for piece in _decompressed(data, compression, what):
        total += len(piece)
        if total > limit:
            raise DarshanError(f"{what} holds more than the {limit} bytes that are allowed")
        yield piece


def whole(data: memoryview, compression: str, what: str, limit: int) -> bytes:
    """Return all of a region's content."""
    found = list(pieces(data, compression, what, limit))
    return found[0] if len(found) == 1 else b"".join(found)


def _decompressed(data: memoryview, compression: str, what: str) -> Iterator[bytes]:
    if compression == "none":
        for at in range(0, len(data), PIECE):
            yield bytes(data[at : at + PIECE])
        return
    at = 0
    try:
        while at < len(data):
            stream: _Stream = _Zlib() if compression == "zlib" else bz2.BZ2Decompressor()
            at = yield from _one(stream, data, at, what)
    except (zlib.error, OSError, ValueError) as error:
        raise DarshanError(f"{what} is damaged: {error}") from error


def _one(stream: _Stream, data: memoryview, at: int, what: str) -> Generator[bytes, None, int]:
    """Yield what one stream holds; return where it ends."""
    while not stream.eof:
        fed = b""
        if stream.needs_input:
            fed = bytes(data[at : at + _FED])
            at += len(fed)
        piece = stream.decompress(fed, PIECE)
        if piece:
            yield piece
        elif not fed and not stream.eof:
            raise DarshanError(f"{what} ends in the middle")
    return at - len(stream.unused_data)
