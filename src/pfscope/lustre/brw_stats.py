"""`osd-*.<target>.brw_stats`: histograms of reads beside writes, as columns.

The percentages of the text follow from the counts and are not kept. Empty buckets have no line,
except between others.
"""

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pfscope.lustre.clock import UNKNOWN_TIME, read_clock
from pfscope.lustre.defects import Defects

_COLUMNS: Final = re.compile(rb"read\s+\|\s+write")
_BLOCK: Final = re.compile(rb"(?P<name>\S.*?)\s+(?P<unit>\w+)\s+% cum %\s*\|\s*(?P=unit)\s+% cum %")
_ROW: Final = re.compile(
    rb"(?P<bound>\d{1,10})(?P<prefix>[KMG]?):\s*(?P<reads>\d{1,19})\s+\d+\s+\d+\s*"
    rb"\|\s*(?P<writes>\d{1,19})\s+\d+\s+\d+"
)
_SHIFT: Final = {b"": 0, b"K": 10, b"M": 20, b"G": 30}


@dataclass(frozen=True, slots=True)
class BrwStats:
    """The buckets of all blocks, in the order of the lines."""

    snapshot_ns: int
    """Nanoseconds since 1970; UNKNOWN_TIME: not in the text."""
    blocks: list[str]
    """Such as `disk I/O size`."""
    units: list[str]
    """What is counted in each block: `rpcs`, `ios`."""
    block: NDArray[np.int16]
    """[buckets] -> blocks, and so the others."""
    bound: NDArray[np.uint64]
    """The bucket's label as a number: an upper bound in the blocks that count sizes."""
    reads: NDArray[np.uint64]
    writes: NDArray[np.uint64]
    defects: Defects


def parse_brw_stats(text: bytes, *, offset: int = 0) -> BrwStats:
    """Read the content of one file."""
    snapshot_ns = UNKNOWN_TIME
    blocks: list[tuple[str, str]] = []
    rows: list[tuple[int, int, int, int]] = []
    defects = Defects()
    for line in text.splitlines(keepends=True):
        stripped = line.strip()
        if match := _ROW.fullmatch(stripped):
            if blocks:
                rows.append((len(blocks) - 1, *_bucket(match)))
            else:
                defects.add(offset, "bucket of no block")
        elif match := _BLOCK.fullmatch(stripped):
            blocks.append(
                (match["name"].decode("ascii", "backslashreplace"), match["unit"].decode())
            )
        elif clock := read_clock(stripped):
            snapshot_ns = clock[1] if clock[0] == "snapshot_time" else snapshot_ns
        elif stripped and not _COLUMNS.fullmatch(stripped):
            defects.add(offset, "unreadable line")
        offset += len(line)
    table = np.array(rows, np.uint64).reshape(-1, 4)
    return BrwStats(
        snapshot_ns,
        [name for name, _ in blocks],
        [unit for _, unit in blocks],
        table[:, 0].astype(np.int16),
        table[:, 1],
        table[:, 2],
        table[:, 3],
        defects,
    )


def _bucket(match: re.Match[bytes]) -> tuple[int, int, int]:
    bound = int(match["bound"]) << _SHIFT[match["prefix"]]
    return bound, int(match["reads"]), int(match["writes"])
