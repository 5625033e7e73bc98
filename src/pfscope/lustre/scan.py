"""The array scanner: a piece of job_stats text, whole lines of it, to columns in array operations.

Every line is claimed by the first rule that reads it exactly: the beginning of an entry, a time, a
counter in Lustre's own spacing. What no rule claims goes to `lines`, one at a time. Both ways fill
the same rows, and rows are in the order of the text.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pfscope.lustre import lines
from pfscope.lustre.columns import UNKNOWN_TIME, JobStats
from pfscope.lustre.counters import Counters, scan_counters
from pfscope.lustre.defects import Defects
from pfscope.lustre.dictionary import Dictionary
from pfscope.lustre.index import MARK, Index, Parameter, index_lines
from pfscope.lustre.raw_id import raw_id
from pfscope.lustre.times import Times
from pfscope.lustre.words import MARGIN, Text

_PRINTED_MARK: Final = MARK + b" " * 10


@dataclass(slots=True)
class Names:
    """The dictionaries that the columns refer to; batches may share them."""

    targets: Dictionary[str] = field(default_factory=Dictionary)
    ids: Dictionary[bytes] = field(default_factory=Dictionary)
    operations: Dictionary[str] = field(default_factory=Dictionary)
    units: Dictionary[str] = field(default_factory=Dictionary)


def scan(
    piece: bytes, offset: int, before: Parameter, names: Names, *, final: bool
) -> tuple[JobStats, Parameter]:
    """Read a piece that begins `offset` bytes into the text, `before` being the parameter in force.

    Returns the columns and the parameter in force at the end. `final` says that no text follows:
    an id whose line has no end may have lost some of it.
    """
    text, defects = Text(piece), Defects()
    index = index_lines(text, len(piece), before, defects, final)
    times = Times(text, index)
    counters = scan_counters(text, index, names.operations, names.units)
    _read_slow_lines(piece, index, times, counters, names, defects)
    for entry in np.flatnonzero(times.snapshot_ns == UNKNOWN_TIME):
        defects.add(int(index.starts[index.entries[entry]]), "entry without snapshot_time")
    batch = JobStats(
        names.targets.values, names.ids.values, names.operations.values, names.units.values,
        target=_targets(index, names.targets),
        entry_id=_entry_ids(piece, index, times, names.ids),
        snapshot_ns=times.snapshot_ns,
        start_ns=times.start_ns,
        since_boot=times.since_boot,
        entry_offset=index.starts[index.entries] - MARGIN + offset,
        **counters.columns(index),
        defects=defects.moved(offset - MARGIN),
    )  # fmt: skip
    return batch, index.parameters[-1][1]


def _read_slow_lines(
    piece: bytes, index: Index, times: Times, counters: Counters, names: Names, defects: Defects
) -> None:
    for line in np.flatnonzero(~index.claimed).tolist():
        start, owner = int(index.starts[line]), int(index.owner[line])
        try:
            what = lines.read_line(piece[start - MARGIN : int(index.ends[line]) - MARGIN])
        except lines.Unreadable as why:
            defects.add(start, str(why))
            continue
        if what is None:
            continue
        if owner < 0:
            defects.add(start, "counter or time outside an entry")
        elif isinstance(what, lines.Counter):
            counters.add(line, what, names.operations, names.units)
        else:
            times.add(owner, what)


def _targets(index: Index, targets: Dictionary[str]) -> NDArray[np.int32]:
    """Return the number of each entry's target in the dictionary."""
    begins = [line for line, _ in index.parameters]
    in_force = np.searchsorted(begins, index.entries, "right") - 1
    used = [targets.number(index.parameters[i][1].target) for i in np.unique(in_force)]
    return np.array(used, np.int32)[np.searchsorted(np.unique(in_force), in_force)]


def _entry_ids(
    piece: bytes, index: Index, times: Times, ids: Dictionary[bytes]
) -> NDArray[np.int32]:
    """Return the number of each entry's raw id in the dictionary."""
    starts = (index.starts[index.entries] - MARGIN).tolist()
    ends = (index.ends[index.entries] - MARGIN).tolist()
    printed, short = len(_PRINTED_MARK), len(MARK)
    spelled = [
        piece[a + printed : b]
        if piece.startswith(_PRINTED_MARK, a, b)
        else piece[a + short : b].lstrip(b" ")
        for a, b in zip(starts, ends, strict=True)
    ]
    for entry, spelling in enumerate(spelled):
        if spelling[:1] == b'"':
            quoting = bool(times.fractional[entry] and not times.since_boot[entry])
            spelled[entry] = raw_id(spelling, quoting_release=quoting)
    return ids.numbers(spelled)
