"""Reading what people name on the command line: files, compressed or not, and standard input."""

import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from pfscope.errors import InputError

CHUNK_BYTES = 1 << 20
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


def read_chunks(name: str) -> Iterator[bytes]:
    """Yield the content of a file, or of standard input for `-`; gzip and zstd are undone."""
    try:
        if name == "-":
            yield from _plain(sys.stdin.buffer)
        else:
            with Path(name).open("rb") as file:
                yield from _plain(file)
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror or error}") from error
    except zlib.error as error:
        raise InputError(f"{name} is damaged: {error}") from error


def _plain(file: BinaryIO) -> Iterator[bytes]:
    head = file.read(4)
    if head.startswith(_GZIP):
        yield from _gunzip(_chunks(head, file))
    elif head == _ZSTD:
        yield from _unzstd(head, file)
    else:
        yield from _chunks(head, file)


def _chunks(head: bytes, file: BinaryIO) -> Iterator[bytes]:
    if head:
        yield head
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


def _gunzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Decompress one gzip member after another."""
    stream = zlib.decompressobj(wbits=31)
    for chunk in chunks:
        rest = chunk
        while rest:
            if stream.eof:
                stream = zlib.decompressobj(wbits=31)
            yield stream.decompress(rest, CHUNK_BYTES)
            rest = stream.unconsumed_tail or stream.unused_data
    if not stream.eof:
        raise zlib.error("it ends in the middle")


def _unzstd(head: bytes, file: BinaryIO) -> Iterator[bytes]:
    import pyarrow as pa

    class Rejoined:
        """The file, with the bytes that were looked at in front of it."""

        closed = False
        _head = head

        def read(self, size: int = -1) -> bytes:
            first, self._head = self._head[:size], self._head[size:] if size >= 0 else b""
            return first or file.read(size)

    stream = pa.CompressedInputStream(pa.PythonFile(Rejoined(), mode="r"), "zstd")
    while chunk := stream.read(CHUNK_BYTES):
        yield chunk
