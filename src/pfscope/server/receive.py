"""Takes a request's body in: encodings undone block by block, every limit checked on the way.

What is held never exceeds the limits, whatever the body pretends to be: sizes before and after
decoding and their ratio are checked at each block, and all bodies together have one budget. gzip is
undone as it arrives; zstd, whose decoder here pulls, when the (bounded) body is complete.
"""

import asyncio
import threading
import zlib
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import Final, Protocol, Self

from pfscope.server.errors import Refusal, come_later, too_large
from pfscope.server.limits import Limits

ENCODINGS: Final = ("identity", "gzip", "zstd")
RATIO_FLOOR: Final = 1 << 20
"""Below this nothing is called a bomb: short repetitive texts compress very well."""
_BLOCK: Final = 256 << 10
_AT_ONCE: Final = threading.BoundedSemaphore(2)
"""A zstd window may take 128 MiB, so that few are open at a time."""


class Held:
    """The budget of bytes that all bodies in flight share."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._guard = threading.Lock()
        self.bytes = 0

    def take(self, count: int) -> None:
        """Take bytes out of the budget; too many are a `Refusal`."""
        with self._guard:
            if self.bytes + count > self._limit:
                raise come_later("memory", "too many bodies are in flight")
            self.bytes += count

    def give_back(self, count: int) -> None:
        """Return bytes to the budget."""
        with self._guard:
            self.bytes -= count


class Share:
    """What one request holds of the budget; all of it is given back at the end."""

    def __init__(self, held: Held) -> None:
        self._held = held
        self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._held.give_back(self._bytes)

    def take(self, count: int) -> None:
        """Hold more."""
        self._held.take(count)
        self._bytes += count


class Sink(Protocol):
    """Where decoded blocks go; it takes what it keeps from its share."""

    def add(self, block: bytes) -> None:
        """Take one block."""


class Collected:
    """A sink that keeps everything."""

    def __init__(self, share: Share) -> None:
        self._share = share
        self.data = bytearray()

    def add(self, block: bytes) -> None:
        """Append a block."""
        self._share.take(len(block))
        self.data += block


class Body:
    """One body on its way from the network through a decoder into a sink."""

    def __init__(self, encoding: str, sink: Sink, limits: Limits, share: Share) -> None:
        self._decoder = decoder(encoding)
        self._sink = sink
        self._limits = limits
        self._share = share
        self._pending = bytearray()
        self.travelled = 0
        self.undone = 0

    async def take(self, chunks: AsyncIterator[bytes], declared: int | None) -> None:
        """Take all of it in; what exceeds a limit or arrives too slowly is a `Refusal`."""
        self._check_travelled(declared or 0)
        deadline = asyncio.get_running_loop().time() + self._limits.body_s
        while (chunk := await self._next(chunks, deadline)) is not None:
            await self._arrived(chunk)
        await asyncio.to_thread(self._decode, last=True)

    async def _next(self, chunks: AsyncIterator[bytes], deadline: float) -> bytes | None:
        # The deadline is for arriving alone: a decoding thread cannot be called back.
        try:
            async with asyncio.timeout_at(deadline):
                return await anext(chunks, None)
        except TimeoutError:
            seconds = self._limits.body_s
            raise Refusal(408, "slow", f"the body took longer than {seconds} s") from None

    async def _arrived(self, chunk: bytes) -> None:
        self.travelled += len(chunk)
        self._check_travelled(self.travelled)
        self._share.take(len(chunk))
        self._pending += chunk
        if len(self._pending) >= _BLOCK:
            await asyncio.to_thread(self._decode)

    def _decode(self, last: bool = False) -> None:
        piece, self._pending = bytes(self._pending), bytearray()
        try:
            for block in self._decoder.feed(piece):
                self._undone(block)
            if last and self.travelled:
                for block in self._decoder.finish():
                    self._undone(block)
        except (zlib.error, OSError):
            hint = "send what the Content-Encoding says, whole"
            raise Refusal(400, "encoding", "the body cannot be decoded", hint) from None

    def _undone(self, block: bytes) -> None:
        self.undone += len(block)
        if self.undone > self._limits.raw_bytes:
            limit = self._limits.raw_bytes
            raise too_large("raw-size", f"the decoded body exceeds {limit} bytes", "raw_bytes")
        if self.undone > max(RATIO_FLOOR, self.travelled * self._limits.ratio):
            ratio = self._limits.ratio
            raise too_large("ratio", f"the body expands more than {ratio} times", "ratio")
        self._sink.add(block)

    def _check_travelled(self, count: int) -> None:
        limit = self._limits.body_bytes
        if count > limit:
            raise too_large("size", f"the body exceeds {limit} bytes", "body_bytes")


class Decoder(Protocol):
    """Undoes a content encoding in blocks of bounded size."""

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Yield what can be decoded with this piece."""

    def finish(self) -> Iterator[bytes]:
        """Yield the rest; a body that ends too early is an error."""


def decoder(encoding: str) -> Decoder:
    """Return the decoder of a Content-Encoding; an unknown one is a `Refusal`."""
    kinds: dict[str, type[Decoder]] = {
        "identity": _Identity,
        "gzip": _Gzip,
        "x-gzip": _Gzip,
        "zstd": _Zstd,
    }
    kind = kinds.get(encoding.strip().lower())
    if kind is None:
        hint = f"one of {', '.join(ENCODINGS)}"
        headers = {"Accept-Encoding": ", ".join(ENCODINGS)}
        raise Refusal(415, "encoding", "the Content-Encoding is not known", hint, headers)
    return kind()


class _Identity:
    def feed(self, piece: bytes) -> Iterator[bytes]:
        for start in range(0, len(piece), _BLOCK):
            yield piece[start : start + _BLOCK]

    def finish(self) -> Iterator[bytes]:
        return iter(())


class _Gzip:
    """One gzip member after another."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(wbits=31)

    def feed(self, piece: bytes) -> Iterator[bytes]:
        while piece:
            if self._stream.eof:
                self._stream = zlib.decompressobj(wbits=31)
            block = self._stream.decompress(piece, _BLOCK)
            piece = self._stream.unconsumed_tail or self._stream.unused_data
            if block:
                yield block

    def finish(self) -> Iterator[bytes]:
        while not self._stream.eof:
            block = self._stream.decompress(b"", _BLOCK)
            if not block:
                raise zlib.error("it ends too early")
            yield block


class _Zstd:
    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, piece: bytes) -> Iterator[bytes]:
        self._data += piece
        return iter(())

    def finish(self) -> Iterator[bytes]:
        import pyarrow as pa

        with _AT_ONCE, pa.CompressedInputStream(pa.BufferReader(self._data), "zstd") as stream:
            while block := stream.read(_BLOCK):
                yield block
