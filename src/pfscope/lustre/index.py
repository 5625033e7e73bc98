"""Where the lines of a piece are: which begin an entry, which name a parameter, who owns the rest.

A line that runs into the next record is cut in two, so that a record is found wherever it begins.
"""

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pfscope.lustre.defects import Defects
from pfscope.lustre.names import target_of_parameter
from pfscope.lustre.words import MARGIN, Offsets, Text

MARK: Final = b"- job_id:"
_PARAMETER = re.compile(rb"(?P<name>[\w@+-]+(?:\.[\w@:+-]+)+)=")
_UNINDENTED: Final = (b"job_stat", b"snapshot", b"start_ti", b"elapsed_")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter in force: the target that it belongs to, and whether it holds job_stats."""

    target: str
    job_stats: bool = True


@dataclass(slots=True)
class Index:
    """The lines of a piece. `claimed` and nothing else changes while they are read."""

    starts: Offsets
    ends: Offsets
    entries: Offsets
    """The line with which each entry begins."""
    owner: Offsets
    """The entry that each line belongs to, -1 for none."""
    claimed: NDArray[np.bool_]
    """Lines that are read, or mean nothing to job_stats."""
    parameters: list[tuple[int, Parameter]]
    """Each parameter with the line from which on it is in force."""


def index_lines(text: Text, size: int, before: Parameter, defects: Defects, final: bool) -> Index:
    """Find the lines of a piece of `size` bytes, `before` being the parameter in force."""
    newlines = text.find(10)
    newlines = newlines[(newlines >= MARGIN) & (newlines < MARGIN + size)]
    starts = np.concatenate([[MARGIN], newlines + 1])
    ends = np.concatenate([newlines, [MARGIN + size]])
    torn = _torn_marks(text.padded, starts)
    if len(torn):
        starts = np.sort(np.concatenate([starts, torn]))
        ends = np.sort(np.concatenate([ends, torn]))
    marked = text.holds(starts, MARK[:8]) & (text.octets[starts + 8] == MARK[8])
    claimed = marked.copy()
    if final and marked[-1]:
        # The id may go on behind the end of the text, and would name somebody else.
        marked[-1] = False
        defects.add(int(starts[-1]), "entry cut at the end of the text")
    parameters = [(-1, before), *_parameters(text, starts, ends)]
    index = Index(starts, ends, np.flatnonzero(marked), np.cumsum(marked) - 1, claimed, parameters)
    _disown(index)
    return index


def _torn_marks(padded: bytes, starts: Offsets) -> Offsets:
    """Find marks inside a line that does not itself begin with one (there it is part of an id)."""
    torn = []
    at = padded.find(MARK)
    while at >= 0:
        if padded[at - 1] != 10:
            line = int(starts[np.searchsorted(starts, at, "right") - 1])
            if not padded.startswith(MARK, line):
                torn.append(at)
            at = padded.find(b"\n", at)
        at = padded.find(MARK, at + len(MARK) - 1)
    return np.array(torn, np.int64)


def _parameters(text: Text, starts: Offsets, ends: Offsets) -> list[tuple[int, Parameter]]:
    letter = (text.octets[starts] | 32) - np.uint8(97) < 26
    candidates = np.flatnonzero(letter)
    for word in _UNINDENTED:
        candidates = candidates[~text.holds(starts[candidates], word)]
    found = []
    for line in candidates.tolist():
        match = _PARAMETER.match(text.padded, int(starts[line]), int(ends[line]))
        if match:
            name = match["name"].decode("ascii", "backslashreplace")
            parameter = Parameter(target_of_parameter(name), name.endswith("job_stats"))
            found.append((line, parameter))
    return found


def _disown(index: Index) -> None:
    """Take the lines between a parameter's name and its first entry from the entry before."""
    begins = [max(line, 0) for line, _ in index.parameters]
    ends = [*begins[1:], len(index.starts)]
    for (line, parameter), begin, end in zip(index.parameters, begins, ends, strict=True):
        after = int(np.searchsorted(index.entries, begin))
        entry = int(index.entries[after]) if after < len(index.entries) else end
        index.owner[begin : min(entry, end)] = -1
        if not parameter.job_stats:
            index.claimed[begin : min(entry, end)] = True
        elif line >= 0:
            index.claimed[line] = True
