"""The names of a log's records: id and path, again and again.

Up to 3.10 a name is its id (8 bytes), its length (4 bytes) and its bytes; later its id, its bytes
and a zero byte. Several ranks may give the same name; the first one that is not empty holds.
"""

from array import array
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pfscope.logs.darshan.errors import DarshanError
from pfscope.logs.darshan.header import Header
from pfscope.untrusted import ascii_text

_LENGTH_FIRST: Final = 310
"""Versions before this one give lengths."""


class Names(NamedTuple):
    """Ids in ascending order, and where the name of each stands in `data`."""

    ids: NDArray[np.int64]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    data: bytes

    def find(self, ids: NDArray[np.int64]) -> pa.Array:
        """Return the names of records as ASCII text; null where the log names none."""
        if not len(self.ids):
            return pa.nulls(len(ids), pa.string())
        at = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        known = self.ids[at] == ids
        begins = self.begins[at].tolist()
        ends = self.ends[at].tolist()
        data = self.data
        texts = [
            data[begin:end] if is_known else None
            for begin, end, is_known in zip(begins, ends, known.tolist(), strict=True)
        ]
        return as_text(texts)


def as_text(raw: list[bytes | None]) -> pa.Array:
    """Return bytes that users wrote as an array of ASCII text."""
    found = pa.array(raw, pa.binary())
    joined = bytes(found.buffers()[2] or b"")
    if joined.isascii() and joined.decode("ascii").isprintable() and b"\\" not in joined:
        return found.cast(pa.string())
    return pa.array([None if text is None else ascii_text(text) for text in raw], pa.string())


def read_names(header: Header, data: bytes, limit: int) -> Names:
    """Find the names in the decompressed region; DarshanError: it is cut, or they are too many."""
    if header.release < _LENGTH_FIRST:
        begins, ends = _by_length(data, "little" if header.order == "<" else "big", limit)
    else:
        begins, ends = _by_zero(data, limit)
    if len(begins) > limit:
        raise DarshanError(f"the log has more than the {limit} names that are allowed")
    return _sorted(data, _array(begins), _array(ends), header)


def _by_length(data: bytes, order: str, limit: int) -> tuple["array[int]", "array[int]"]:
    begins, ends, at = array("q"), array("q"), 0
    while at < len(data) and len(begins) <= limit:
        begin = at + 12
        at = begin + int.from_bytes(data[at + 8 : begin], order)  # type: ignore[arg-type]
        if at > len(data):
            raise DarshanError("the names end in the middle")
        begins.append(begin)
        ends.append(at)
    return begins, ends


def _by_zero(data: bytes, limit: int) -> tuple["array[int]", "array[int]"]:
    begins, ends, at = array("q"), array("q"), 0
    while at < len(data) and len(begins) <= limit:
        end = data.find(b"\0", at + 8)
        if end < 0:
            raise DarshanError("the names end in the middle")
        begins.append(at + 8)
        ends.append(end)
        at = end + 1
    return begins, ends


def _array(values: "array[int]") -> NDArray[np.int64]:
    return np.frombuffer(values, np.int64) if values else np.empty(0, np.int64)


def _sorted(
    data: bytes, begins: NDArray[np.int64], ends: NDArray[np.int64], header: Header
) -> Names:
    before = 12 if header.release < _LENGTH_FIRST else 8
    raw = np.frombuffer(data, np.uint8)
    eight = np.empty((len(begins), 8), np.uint8)
    for i in range(8):
        eight[:, i] = raw[begins - before + i]
    ids = eight.reshape(-1).view(f"{header.order}i8").astype(np.int64)
    order = np.lexsort((ends == begins, ids))
    ids = ids[order]
    first = np.append(True, ids[1:] != ids[:-1]) if len(ids) else np.empty(0, bool)
    return Names(ids[first], begins[order][first], ends[order][first], data)
