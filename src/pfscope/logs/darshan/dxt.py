"""Single reads and writes, from DXT records, streamed: traces are longer than all else together.

A record is id, rank, a word on sharing, the host's name (64 bytes), the numbers of writes and of
reads; then segments, writes first: offset, length, start, end, and a thread in later versions.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pfscope.logs.darshan.errors import DarshanError
from pfscope.logs.darshan.header import Order

_HEAD: Final = 13 * 8
_HOST: Final = slice(24, 88)
_WIDTHS: Final = {"DXT_POSIX": {1: 4, 2: 5}, "DXT_MPIIO": {1: 4, 2: 4, 3: 5}}
"""Words of a segment by version. The first version of MPI-IO has no offsets."""
_AT_ONCE: Final = 1 << 18
"""Segments that are given together."""


class Segments(NamedTuple):
    """Some reads and writes."""

    ids: NDArray[np.int64]
    ranks: NDArray[np.int64]
    hosts: NDArray[np.int64]
    """Which of `host_names`."""
    host_names: list[bytes]
    is_write: NDArray[np.bool_]
    words: NDArray[np.int64]
    """Offset, length, start, end, thread: a row for each segment; the last one may be missing."""
    has_offset: bool

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.ids)


class _Stream:
    """Bytes of successive blocks."""

    def __init__(self, blocks: Iterable[bytes], what: str) -> None:
        self._blocks = iter(blocks)
        self._what = what
        self._data = b""
        self._at = 0

    def take(self, size: int, *, or_end: bool = False) -> bytes:
        """Return so many bytes; nothing where the end is allowed and there."""
        if len(self._data) - self._at < size:
            self._fill(size)
        found = self._data[self._at : self._at + size]
        if len(found) < size and not (or_end and not found):
            raise DarshanError(f"{self._what} ends in the middle of a record")
        self._at += len(found)
        return found

    def _fill(self, size: int) -> None:
        parts = [self._data[self._at :]]
        have = len(parts[0])
        while have < size and (block := next(self._blocks, b"")):
            parts.append(block)
            have += len(block)
        self._data, self._at = b"".join(parts), 0


class _Gathered:
    """Segments of successive records, until there are enough of them."""

    def __init__(self, width: int, *, has_offset: bool) -> None:
        self._width = width
        self._has_offset = has_offset
        self.clear()

    def clear(self) -> None:
        self._heads: list[tuple[int, int, int, int, int]] = []
        self._hosts: dict[bytes, int] = {}
        self._words: list[NDArray[np.int64]] = []
        self.count = 0

    def add(self, head: bytes, order: Order, words: NDArray[np.int64], writes: int) -> None:
        host = self._hosts.setdefault(head[_HOST].partition(b"\0")[0], len(self._hosts))
        record, rank = np.frombuffer(head, f"{order}i8", 2).tolist()
        self._heads.append((record, rank, host, writes, len(words) - writes))
        self._words.append(words)
        self.count += len(words)

    def taken(self) -> Segments:
        heads = np.array(self._heads, np.int64).reshape(-1, 5)
        counts = heads[:, 3] + heads[:, 4]
        # Writes and reads of every record, in turn.
        is_write = np.tile(np.array([True, False]), len(heads))
        found = Segments(
            np.repeat(heads[:, 0], counts),
            np.repeat(heads[:, 1], counts),
            np.repeat(heads[:, 2], counts),
            list(self._hosts),
            np.repeat(is_write, heads[:, 3:].reshape(-1)),
            np.concatenate([np.empty((0, self._width), np.int64), *self._words]),
            self._has_offset,
        )
        self.clear()
        return found


def iter_dxt(
    module: str, blocks: Iterable[bytes], *, version: int, order: Order, nprocs: int
) -> Iterator[Segments]:
    """Yield all segments of a module, many at a time; DarshanError: they make no sense."""
    width = _WIDTHS[module].get(version)
    if width is None:
        raise DarshanError(f"version {version} of {module} records is not known")
    stream = _Stream(blocks, module)
    gathered = _Gathered(width, has_offset=(module, version) != ("DXT_MPIIO", 1))
    while head := stream.take(_HEAD, or_end=True):
        rank = int(np.frombuffer(head, f"{order}i8", 1, 8)[0])
        writes, reads = np.frombuffer(head, f"{order}i8", 2, 88).tolist()
        if min(writes, reads) < 0 or not -1 <= rank < nprocs:
            raise DarshanError(f"{module} has a record of rank {rank} that makes no sense")
        while writes + reads:
            part = min(writes + reads, _AT_ONCE)
            raw = np.frombuffer(stream.take(part * width * 8), f"{order}i8")
            words = raw.reshape(-1, width).astype(np.int64, copy=False)
            _check(words, module)
            gathered.add(head, order, words, min(writes, part))
            reads -= part - min(writes, part)
            writes -= min(writes, part)
            if gathered.count >= _AT_ONCE:
                yield gathered.taken()
    if gathered.count:
        yield gathered.taken()


def _check(words: NDArray[np.int64], module: str) -> None:
    times = np.ascontiguousarray(words[:, 2:4]).view(np.float64)
    if not np.isfinite(times).all() or words[:, 1].min() < 0:
        raise DarshanError(f"{module} has segments that make no sense")
