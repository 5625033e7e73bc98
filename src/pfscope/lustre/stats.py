"""`stats`, `md_stats`, `exports.<NID>.stats` and service stats: counters of a target as columns.

A row is a line; names may repeat (`statfs` does on older OSTs), and every row is kept. What cannot
be read is counted with its offset, and the rows after it are still read.
"""

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pfscope.lustre.clock import UNKNOWN_TIME, is_since_boot, read_clock
from pfscope.lustre.defects import Defects

_ROW: Final = re.compile(
    rb"(?P<name>\S+)\s+(?P<samples>-?\d{1,20})\s+samples\s+\[(?P<unit>[^\]]*)\]"
    rb"(?:\s+(?P<min>-?\d{1,20})\s+(?P<max>-?\d{1,20})\s+(?P<sum>-?\d{1,20})"
    rb"(?:\s+(?P<sumsq>-?\d{1,20}))?)?"
)
_WORD: Final = 1 << 64


@dataclass(frozen=True, slots=True)
class Stats:
    """The counters of one file, in the order of its lines."""

    snapshot_ns: int
    """Nanoseconds since 1970, or since boot where `since_boot`; UNKNOWN_TIME: not in the text."""
    start_ns: int
    names: list[str]
    units: list[str]
    samples: NDArray[np.uint64]
    minimum: NDArray[np.uint64]
    maximum: NDArray[np.uint64]
    total: NDArray[np.uint64]
    sumsq: NDArray[np.uint64]
    measured: NDArray[np.bool_]
    """The text has min, max and sum for this counter; else they are zero here."""
    squared: NDArray[np.bool_]
    """The text has sumsq (modulo 2^64) for this counter."""
    defects: Defects

    @property
    def since_boot(self) -> bool:
        """The times count from the server's boot."""
        return is_since_boot(self.snapshot_ns)


def parse_stats(text: bytes, *, offset: int = 0) -> Stats:
    """Read the content of one file."""
    times = {"snapshot_time": UNKNOWN_TIME, "start_time": UNKNOWN_TIME}
    rows: list[re.Match[bytes]] = []
    defects = Defects()
    for line in text.splitlines(keepends=True):
        stripped = line.strip()
        if match := _ROW.fullmatch(stripped):
            rows.append(match)
        elif clock := read_clock(stripped):
            times[clock[0]] = clock[1]
        elif stripped:
            defects.add(offset, "unreadable line")
        offset += len(line)
    return Stats(
        times["snapshot_time"],
        times["start_time"],
        [row["name"].decode("ascii", "backslashreplace") for row in rows],
        [row["unit"].decode("ascii", "backslashreplace") for row in rows],
        _column(rows, "samples"),
        _column(rows, "min"),
        _column(rows, "max"),
        _column(rows, "sum"),
        _column(rows, "sumsq"),
        np.array([row["min"] is not None for row in rows], np.bool_),
        np.array([row["sumsq"] is not None for row in rows], np.bool_),
        defects,
    )


def _column(rows: list[re.Match[bytes]], number: str) -> NDArray[np.uint64]:
    # Sums are printed as signed numbers; the counter behind them is a word that wraps.
    return np.array([int(row[number] or 0) % _WORD for row in rows], np.uint64)
