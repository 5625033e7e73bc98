"""Records of modules that count by file, as columns.

Columns are filled block by block, so that a log of a million files is never there twice.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pfscope.logs.darshan import layouts
from pfscope.logs.darshan.errors import DarshanError
from pfscope.logs.darshan.header import Order

UNKNOWN: Final = -1
"""What Darshan writes where it did not count, and what stands for counters that a version lacks."""
_SIGNED: Final = ("STRIDE", "LENGTH_D", "_MODE", "RENAMED_FROM", "_NDIMS", "_NPOINTS", "_OTYPE")
"""Counters, by parts of their names, that may well be below -1."""
_LATEST_S: Final = 1e10
_SPLIT: Final = {"PNETCDF_FILE_OPENS": ("PNETCDF_FILE_INDEP_OPENS", "PNETCDF_FILE_COLL_OPENS")}
"""Counters that older versions had in parts."""


class Counters(NamedTuple):
    """Some counters of a module's records: what the log does not have is -1 everywhere."""

    module: str
    names: tuple[str, ...]
    """`id` and `rank` first."""
    words: NDArray[np.int64]
    """A row for each name, a column for each record; seconds are the bits of their numbers."""

    @property
    def rows(self) -> int:
        """How many there are."""
        return int(self.words.shape[1])

    def column(self, name: str) -> NDArray[np.int64] | NDArray[np.float64]:
        """Return the values of a counter."""
        found: NDArray[np.int64] = self.words[self.names.index(name)]
        return found.view(np.float64) if "_F_" in name else found


def read_counters(
    module: str,
    blocks: Iterable[bytes],
    *,
    version: int,
    order: Order,
    wanted: Sequence[str] | None,
    most: int,
) -> Counters:
    """Gather the counters that are wanted, all if None, of at most so many records."""
    have = layouts.words(module, version)
    if have is None:
        raise DarshanError(f"version {version} of {module} records is not known")
    names = (layouts.ID, layouts.RANK, *(w for w in wanted or have if w not in have[:2]))
    sources = [have.index(name) if name in have else None for name in names]
    size = 8 * len(have)
    parts: list[NDArray[np.int64]] = []
    total = 0
    for block in whole_records(blocks, size, module):
        records = np.frombuffer(block, f"{order}i8").reshape(-1, len(have))
        total += len(records)
        if total > most:
            raise DarshanError(f"{module} has more than the {most} records that are allowed")
        part = np.empty((len(names), len(records)), np.int64)
        # Column by column: to take many at once with an array of indices is ten times slower.
        for row, source in enumerate(sources):
            if source is not None:
                part[row] = records[:, source]
        _fill(part, names, sources, have, records)
        parts.append(part)
    return Counters(module, names, _joined(parts, len(names)))


def whole_records(blocks: Iterable[bytes], size: int, what: str) -> Iterable[bytes]:
    """Cut blocks anew, so that each holds whole records of a size."""
    rest = b""
    for block in blocks:
        data = rest + block if rest else block
        whole = len(data) - len(data) % size
        rest = data[whole:]
        if whole:
            yield data[:whole] if rest else data
    if rest:
        raise DarshanError(f"{what} ends in the middle of a record")


def _fill(
    part: NDArray[np.int64],
    names: Sequence[str],
    sources: Sequence[int | None],
    have: Sequence[str],
    records: NDArray[np.int64],
) -> None:
    """Fill in what this version of the records lacks."""
    for row, (name, source) in enumerate(zip(names, sources, strict=True)):
        if source is not None:
            continue
        pieces = _SPLIT.get(name, ())
        if pieces and pieces[0] in have:
            part[row] = sum(records[:, have.index(piece)] for piece in pieces)
        elif "_F_" in name:
            part[row].view(np.float64)[:] = UNKNOWN
        else:
            part[row] = UNKNOWN


def _joined(parts: list[NDArray[np.int64]], rows: int) -> NDArray[np.int64]:
    """Put blocks side by side; each is let go as soon as it is copied."""
    if len(parts) < 2:
        return parts[0] if parts else np.empty((rows, 0), np.int64)
    joined = np.empty((rows, sum(part.shape[1] for part in parts)), np.int64)
    at = 0
    parts.reverse()
    while parts:
        part = parts.pop()
        joined[:, at : at + part.shape[1]] = part
        at += part.shape[1]
    return joined


def check(counters: Counters, nprocs: int) -> None:
    """Refuse what cannot be true: ranks beyond the processes, counts and times of nowhere.

    A count may be as low as -1 for every process, where Darshan summed what it did not monitor; a
    time may be below zero, where it missed a start. Both are not known, and hide nothing else.
    """
    if not counters.rows:
        return
    ranks = counters.column(layouts.RANK)
    if ranks.min() < -1 or ranks.max() >= nprocs:
        raise DarshanError(
            f"{counters.module} has ranks {ranks.min()} to {ranks.max()} of {nprocs} processes"
        )
    for name in counters.names[2:]:
        values = counters.column(name)
        if "_F_" in name:
            # What is no number fails every comparison.
            if "VARIANCE" not in name and not np.abs(values).max() < _LATEST_S:
                raise DarshanError(f"{name} has times from {values.min()} to {values.max()}")
        elif values.min() < -nprocs and name.isupper() and not any(p in name for p in _SIGNED):
            raise DarshanError(f"{name} has counts down to {values.min()}")
