"""Sets of OSTs as bitmaps: made from lists, united, intersected and counted, in arrays.

Bit `i % 8` of byte `i // 8` is OST `i`; a bitmap is as long as its highest OST asks for, and the
empty set has no bytes. Functions take and give Arrow arrays, so that any engine can call them on
its batches; `DUCKDB` are the same functions in DuckDB's own language. Null stays null.
"""

from collections.abc import Iterable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

DUCKDB: Final = """
CREATE OR REPLACE MACRO ost_padded(osts, width) AS
  array_slice(osts || repeat('\\x00'::BLOB, width), 1, width)::BIT;
CREATE OR REPLACE MACRO ost_count(osts) AS
  CASE WHEN octet_length(osts) = 0 THEN 0 ELSE bit_count(osts::BIT) END;
CREATE OR REPLACE MACRO ost_union(a, b) AS
  CASE WHEN octet_length(a) + octet_length(b) = 0 THEN ''::BLOB
       ELSE (ost_padded(a, greatest(octet_length(a), octet_length(b)))
             | ost_padded(b, greatest(octet_length(a), octet_length(b))))::BLOB END;
CREATE OR REPLACE MACRO ost_intersection(a, b) AS
  CASE WHEN least(octet_length(a), octet_length(b)) = 0 THEN ''::BLOB
       ELSE (ost_padded(a, least(octet_length(a), octet_length(b)))
             & ost_padded(b, least(octet_length(a), octet_length(b))))::BLOB END;
CREATE OR REPLACE MACRO ost_overlap(a, b) AS
  ost_count(ost_intersection(a, b));
CREATE OR REPLACE MACRO ost_list(osts) AS
  list_filter(range(8 * octet_length(osts)), lambda i:
    get_bit(osts::BIT, ((i // 8) * 8 + 7 - i % 8)::INTEGER) = 1);
CREATE OR REPLACE MACRO ost_union_all(osts) AS
  list_reduce(list(osts) FILTER (osts IS NOT NULL), lambda a, b: ost_union(a, b));
"""
"""Statements that give a connection the functions `ost_count(osts)`, `ost_union(a, b)`,
`ost_intersection(a, b)`, `ost_overlap(a, b)` (how many both have), `ost_list(osts)` (the indices),
and the aggregate `ost_union_all(osts)`."""


def ost_sets(owners: NDArray[np.int64], osts: NDArray[np.int64], count: int) -> pa.Array:
    """Return `count` bitmaps: OST `osts[i]` is in that of `owners[i]`.

    >>> ost_sets(np.array([0, 0, 2]), np.array([0, 9, 3]), 3).to_pylist()
    [b'\\x01\\x02', b'', b'\\x08']
    """
    lengths = np.zeros(count, np.int64)
    np.maximum.at(lengths, owners, osts // 8 + 1)
    ends = np.cumsum(lengths)
    if count and ends[-1] > np.iinfo(np.int32).max:
        raise OverflowError("the bitmaps are longer than 2 GiB: take fewer of them at once")
    offsets = np.concatenate([[0], ends]).astype(np.int32)
    data = np.zeros(int(offsets[-1]), np.uint8)
    np.bitwise_or.at(data, offsets[owners] + osts // 8, (1 << (osts % 8)).astype(np.uint8))
    return pa.Array.from_buffers(
        pa.binary(), count, [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    )


def ost_count(sets: pa.Array) -> pa.Array:
    """Return how many OSTs each set has."""
    data, offsets = _parts(sets)
    sums = np.concatenate([[0], np.cumsum(np.bitwise_count(data), dtype=np.int64)])
    counts = (sums[offsets[1:]] - sums[offsets[:-1]]).astype(np.int32)
    return pa.array(counts, mask=np.asarray(pc.is_null(sets)))


def ost_list(osts: bytes) -> list[int]:
    """Return the indices of a set's OSTs.

    >>> ost_list(b"\\x01\\x02")
    [0, 9]
    """
    bits: list[int] = np.flatnonzero(
        np.unpackbits(np.frombuffer(osts, np.uint8), bitorder="little")
    ).tolist()
    return bits


def ost_union(sets: Iterable[bytes | None]) -> bytes | None:
    """Return the union of sets; null ones say nothing, and nothing alone is null."""
    found: int | None = None
    longest = 0
    for one in sets:
        if one is not None:
            found = (found or 0) | int.from_bytes(one, "little")
            longest = max(longest, len(one))
    return None if found is None else found.to_bytes(longest, "little")


def ost_intersection(first: bytes | None, second: bytes | None) -> bytes | None:
    """Return what two sets have in common."""
    if first is None or second is None:
        return None
    both = int.from_bytes(first, "little") & int.from_bytes(second, "little")
    return both.to_bytes((both.bit_length() + 7) // 8, "little")


def _parts(sets: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return all bytes of an array, and where the bytes of each value begin and the last end."""
    if isinstance(sets, pa.ChunkedArray):
        sets = sets.combine_chunks()
    _, offsets, data = sets.cast(pa.binary()).buffers()
    raw = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    if offsets is None:
        return raw, np.zeros(len(sets) + 1, np.int64)
    where = np.frombuffer(offsets, np.int32)[sets.offset : sets.offset + len(sets) + 1]
    return raw, where.astype(np.int64)
