"""How files were striped, from LUSTRE records of both versions.

Version 1: id, rank, OSTs and MDTs of the file system, stripe offset, size and count, then the
indices of the OSTs. Version 2: id, rank, numbers of components and of stripes; for each component
stripe size, count, pattern, flags, extent and mirror, and a pool's name of 16 bytes; then OSTs. Of
what is reserved there, a component of size -1 was never initialised and ends those that were.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pfscope.logs.darshan.errors import DarshanError
from pfscope.logs.darshan.header import Order
from pfscope.logs.darshan.walk import as_words, runs

_HEAD: Final = {1: 7, 2: 4}
_COMPONENT: Final = 9
"""Words of a component: 7 counters and the pool's name."""
_SIZE, _COUNT, _MIRROR = 0, 1, 6
_MOST_OSTS: Final = 1 << 16
_MOST_COMPONENTS: Final = 1 << 12
UNKNOWN: Final = -1


class Layouts(NamedTuple):
    """How files were striped; OSTs of record `i` are those where `owners` is `i`."""

    ids: NDArray[np.int64]
    ranks: NDArray[np.int64]
    stripe_size: NDArray[np.int64]
    """Of the last component that was initialised, as the count."""
    stripe_count: NDArray[np.int64]
    stripe_offset: NDArray[np.int64]
    """Version 2 does not have it: `has_offset` tells."""
    components: NDArray[np.int64]
    mirrors: NDArray[np.int64]
    owners: NDArray[np.int64]
    osts: NDArray[np.int64]
    has_offset: bool

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.ids)


def read_lustre(data: bytes, version: int, order: Order, most: int) -> Layouts:
    """Read all records; DarshanError: they make no sense."""
    read = {1: _read_first, 2: _read_second}.get(version)
    if read is None:
        raise DarshanError(f"version {version} of LUSTRE records is not known")
    parts: list[Layouts] = []
    total = 0
    keys = (6,) if version == 1 else (2, 3)
    length = _length_first if version == 1 else _length_second
    words = as_words(data, order, "LUSTRE")
    for rows in runs(words, _HEAD[version], keys, length, "LUSTRE"):
        part = read(rows)
        parts.append(part._replace(owners=part.owners + total))
        total += len(rows)
        if total > most:
            raise DarshanError(f"LUSTRE has more than the {most} records that are allowed")
    return _joined(parts, version)


def _length_first(sizes: tuple[int, ...]) -> int | None:
    (stripes,) = sizes
    return 7 + stripes if 0 <= stripes <= _MOST_OSTS else None


def _length_second(sizes: tuple[int, ...]) -> int | None:
    components, stripes = sizes
    if not 0 <= components <= _MOST_COMPONENTS or not 0 <= stripes <= _MOST_OSTS * components:
        return None
    return 4 + (_COMPONENT * components + stripes if components else 0)


def _read_first(rows: NDArray[np.int64]) -> Layouts:
    count = len(rows)
    owners, osts = _listed(rows[:, 7:], rows[:, 6])
    one = np.ones(count, np.int64)
    return Layouts(
        rows[:, 0], rows[:, 1], rows[:, 5], rows[:, 6], rows[:, 4], one, one, owners, osts, True
    )  # fmt: skip


def _read_second(rows: NDArray[np.int64]) -> Layouts:
    count, reserved = len(rows), int(rows[0, 2])
    comps = rows[:, 4 : 4 + _COMPONENT * reserved].reshape(count, reserved, _COMPONENT)
    sizes = comps[:, :, _SIZE]
    # Those after the first that was never initialised do not count either.
    used = np.logical_and.accumulate(sizes != -1, axis=1)
    components = used.sum(axis=1)
    stripes = np.where(used, comps[:, :, _COUNT], 0)
    if len(stripes) and stripes.size and (stripes.min() < 0 or stripes.max() > _MOST_OSTS):
        raise DarshanError("LUSTRE has stripe counts that make no sense")
    owners, osts = _listed(rows[:, 4 + _COMPONENT * reserved :], stripes.sum(axis=1))
    last = np.maximum(components - 1, 0)[:, None]
    none = np.full(count, UNKNOWN)
    return Layouts(
        rows[:, 0],
        rows[:, 1],
        np.take_along_axis(sizes, last, 1)[:, 0] if reserved else none,
        np.take_along_axis(stripes, last, 1)[:, 0] if reserved else none,
        none,
        components,
        _distinct(np.where(used, comps[:, :, _MIRROR], -1)),
        owners,
        osts,
        False,
    )


def _distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the different mirrors of each row; -1 is none."""
    if not values.shape[1]:
        return np.zeros(len(values), np.int64)
    ordered = np.sort(values, axis=1)
    fresh = ordered[:, 1:] != ordered[:, :-1]
    found: NDArray[np.int64] = (fresh & (ordered[:, 1:] != -1)).sum(axis=1) + (ordered[:, 0] != -1)
    return found


def _listed(
    lists: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return owners and OSTs of the first so many of each row; -1 is one that was not told."""
    if len(counts) and counts.max() > lists.shape[1]:
        raise DarshanError("LUSTRE has a file with more stripes than OSTs in its list")
    taken = (np.arange(lists.shape[1]) < counts[:, None]) & (lists != -1)
    owners, at = np.nonzero(taken)
    osts = lists[owners, at]
    if len(osts) and (osts.min() < 0 or osts.max() >= _MOST_OSTS):
        raise DarshanError(f"LUSTRE has OST indices from {osts.min()} to {osts.max()}")
    return owners.astype(np.int64), osts


def _joined(parts: list[Layouts], version: int) -> Layouts:
    if len(parts) == 1:
        return parts[0]
    empty = np.empty(0, np.int64)
    names = Layouts._fields[:-1]
    columns = {
        name: np.concatenate([empty, *(getattr(part, name) for part in parts)]) for name in names
    }
    return Layouts(**columns, has_offset=version == 1)
