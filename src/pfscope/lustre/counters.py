"""Counters with samples above zero, read in arrays where they stand in Lustre's own spacing.

`  open:            { samples:          12, unit: usecs, min:        1, … sumsq:        144 }`:
the widths of the samples and of the unit are fixed; later numbers may outgrow their width.
"""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pfscope.lustre import lines
from pfscope.lustre.dictionary import Dictionary
from pfscope.lustre.index import Index
from pfscope.lustre.words import MARGIN, Offsets, Text

_COMMA: Final = 44
_BRACE: Final = 123
_SAMPLES_WIDTH: Final = 22
"""From the brace to the comma behind the samples: `{ samples: %11llu,`."""
_GROWTH: Final = 5
"""How many places a number may outgrow its width here; a blank after the colon is one."""
_NAME_LIMIT: Final = 24


@dataclass(slots=True)
class Counters:
    """Rows of counters, each with the line it stands on; sorted by line only at the end."""

    line: Offsets
    operation: NDArray[np.int32]
    unit: NDArray[np.int32]
    numbers: NDArray[np.uint64]
    """[samples, min, max, sum, sumsq] × rows."""
    measured: NDArray[np.bool_]
    squared: NDArray[np.bool_]
    hist_line: Offsets
    hist_bound: NDArray[np.uint64]
    hist_count: NDArray[np.uint64]
    slow: list[tuple[int, int, int, lines.Counter]] = field(default_factory=list)

    def add(
        self, line: int, counter: lines.Counter, operations: Dictionary[str], units: Dictionary[str]
    ) -> None:
        """Add a counter that was read the slow way."""
        if counter.samples:
            name = counter.name.decode("ascii", "backslashreplace")
            unit = counter.unit.decode("ascii", "backslashreplace")
            self.slow.append((line, operations.number(name), units.number(unit), counter))

    def columns(self, index: Index) -> dict[str, NDArray[Any]]:
        """Return the columns of `JobStats`, in the order of the text."""
        self._merge_slow()
        order = np.argsort(self.line, kind="stable")
        line = self.line[order]
        samples, minimum, maximum, total, sumsq = self.numbers[:, order]
        bins = np.argsort(self.hist_line, kind="stable")
        return {
            "entry": index.owner[line].astype(np.int32),
            "operation": self.operation[order],
            "unit": self.unit[order],
            "samples": samples,
            "minimum": minimum,
            "maximum": maximum,
            "total": total,
            "sumsq": sumsq,
            "measured": self.measured[order],
            "squared": self.squared[order],
            "hist_counter": np.searchsorted(line, self.hist_line[bins]).astype(np.int32),
            "hist_bound": self.hist_bound[bins],
            "hist_count": self.hist_count[bins],
        }

    def _merge_slow(self) -> None:
        if not self.slow:
            return
        line, operation, unit, counters = zip(*self.slow, strict=True)
        numbers = [[c.samples, c.minimum, c.maximum, c.total, c.sumsq] for c in counters]
        bins = [(at, b, n) for at, c in zip(line, counters, strict=True) for b, n in c.histogram]
        at, bound, count = zip(*bins, strict=True) if bins else ((), (), ())
        more = Counters(
            np.array(line, np.int64),
            np.array(operation, np.int32),
            np.array(unit, np.int32),
            np.array(numbers, np.uint64).T,
            np.array([c.measured for c in counters]),
            np.array([c.squared for c in counters]),
            np.array(at, np.int64),
            np.array(bound, np.uint64),
            np.array(count, np.uint64),
        )
        for name in ("line", "operation", "unit", "numbers", "measured", "squared",
                     "hist_line", "hist_bound", "hist_count"):  # fmt: skip
            both = [getattr(self, name), getattr(more, name)]
            setattr(self, name, np.concatenate(both, axis=-1))


def scan_counters(
    text: Text, index: Index, operations: Dictionary[str], units: Dictionary[str]
) -> Counters:
    """Claim every counter line in Lustre's spacing; return those with samples above zero."""
    line, comma = _counter_lines(text, index)
    zero = (text.octets[comma - 1] == 48) & (text.octets[comma - 2] == 32)
    index.claimed[line[zero]] = True
    rows = _Rows(text, index, line[~zero], comma[~zero])
    operation = _names(text, index.starts[rows.line] + 2, rows.brace, operations, b":")
    unit = _names(text, rows.unit_at, rows.unit_at + 5, units, b"")
    rows.reject((operation < 0) | (unit < 0))
    bins = _histograms(text, index, rows)
    good = rows.good
    index.claimed[rows.line[good]] = True
    kept_bins = good[bins[0]]
    return Counters(
        rows.line[good],
        operation[good],
        unit[good],
        rows.numbers[:, good],
        rows.measured[good],
        rows.squared[good],
        rows.line[bins[0][kept_bins]],
        bins[1][kept_bins],
        bins[2][kept_bins],
    )


def _counter_lines(text: Text, index: Index) -> tuple[Offsets, Offsets]:
    """Return the lines `  name: { samples: N, unit: …` and the comma behind their samples."""
    brace = text.find(_BRACE)
    brace = brace[text.holds(brace + 1, b" samples") & (text.octets[brace + 9] == 58)]
    line = np.searchsorted(index.starts, brace, "right") - 1
    comma = brace + _SAMPLES_WIDTH
    good = text.holds(comma, b", unit: ") & text.holds(index.starts[line], b"  ")
    good &= (index.owner[line] >= 0) & (comma < index.ends[line]) & ~index.claimed[line]
    good &= brace - index.starts[line] <= _NAME_LIMIT + 2
    good[1:] &= line[1:] != line[:-1]
    return line[good], comma[good]


class _Rows:
    """Counter lines being read from left to right; a row that does not fit any more is not good."""

    def __init__(self, text: Text, index: Index, line: Offsets, comma: Offsets) -> None:
        self._text = text
        self.line = line
        self.brace = comma - _SAMPLES_WIDTH
        self.unit_at = comma + 8
        self.good = np.ones(len(line), np.bool_)
        self.numbers = np.zeros((5, len(line)), np.uint64)
        self._number(0, comma, self.good)
        at = comma + 13
        end = index.ends[line]
        self.measured = text.holds(at, b", min:")
        at = self._field(1, at, b", min:", 8, self.measured)
        at = self._field(2, at, b", max:", 8, self.measured)
        at = self._field(3, at, b", sum:", 16, self.measured)
        self.squared = self.measured & text.holds(at, b", sumsq:")
        at = self._field(4, at, b", sumsq:", 18, self.squared)
        self.with_hist = np.flatnonzero(self.good & text.holds(at, b", hist: "))
        self.hist_at = at[self.with_hist] + 9
        closed = text.holds(at, b" }") & (at + 2 == end)
        closed[self.with_hist] = True
        self.good &= closed

    def reject(self, bad: NDArray[np.bool_]) -> None:
        """Leave rows to the slow way."""
        self.good &= ~bad

    def _number(self, which: int, end: Offsets, wanted: NDArray[np.bool_]) -> None:
        rows = np.flatnonzero(wanted & self.good)
        value, digits = self._text.decimals_before(end[rows])
        before = self._text.octets[end[rows] - digits - 1]
        self.numbers[which, rows] = value
        self.good[rows] &= (digits > 0) & ((before == 32) | (before == 58))

    def _field(
        self, which: int, at: Offsets, key: bytes, width: int, wanted: NDArray[np.bool_]
    ) -> Offsets:
        """Read `key` and its number at `at`; return where each wanted row goes on."""
        octets = self._text.octets
        fits = self._text.holds(at, key)
        nearest = at + len(key) + width
        last = len(octets) - MARGIN
        end = np.zeros_like(at)
        for grown in range(_GROWTH):
            here = np.minimum(nearest + grown, last)
            stops = (octets[here] == _COMMA) | ((octets[here] == 32) & (octets[here + 1] == 125))
            end = np.where((end == 0) & stops, here, end)
        self.good &= ~wanted | (fits & (end > 0))
        end = np.where(wanted & self.good, end, np.minimum(at, last))
        self._number(which, end, wanted)
        return end


def _names(
    text: Text, starts: Offsets, ends: Offsets, names: Dictionary[str], tail: bytes
) -> NDArray[np.int32]:
    """Return the number of the name in each stretch (-1: odd); each distinct one is read once."""
    key = np.zeros(len(starts), np.uint64)
    for word in range(3):
        size = np.clip(ends - starts - 8 * word, 0, 8).astype(np.uint64) * np.uint64(8)
        mask = np.where(
            size == 64, ~np.uint64(0), (np.uint64(1) << (size % np.uint64(64))) - np.uint64(1)
        )
        part = text.words[starts + 8 * word] & mask
        key = (key ^ part) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    numbers = np.empty(len(first), np.int32)
    for i in np.argsort(first):
        numbers[i] = _name_number(text.padded[starts[first[i]] : ends[first[i]]], names, tail)
    return numbers[which]


def _name_number(stretch: bytes, names: Dictionary[str], tail: bytes) -> int:
    name = stretch.strip(b" ")
    if not name.endswith(tail):
        return -1
    name = name.removesuffix(tail).rstrip(b" ")
    if not name or any(octet in b" :,{}\t\n" for octet in name):
        return -1
    return names.number(name.decode("ascii", "backslashreplace"))


def _histograms(
    text: Text, index: Index, rows: _Rows
) -> tuple[Offsets, NDArray[np.uint64], NDArray[np.uint64]]:
    """Read `{ 4K: 1, 1M: 3 } }`: the row of each bin, its bound and its count."""
    row, at, ends = rows.with_hist, rows.hist_at, index.ends[rows.line[rows.with_hist]]
    proper = text.holds(ends - 4, b" } }") & (text.octets[at - 1] == _BRACE)
    rows.good[row[~proper]] = False
    row, at, ends = row[proper], at[proper], ends[proper] - 3
    size = ends - at
    # Bins of all rows one after another, each row closed by the blank before its brace.
    joined = Text(
        b"".join([text.padded[a:b] for a, b in zip(at.tolist(), ends.tolist(), strict=True)])
    )
    row_ends = np.cumsum(size) + MARGIN
    colon = joined.find(58)
    stop = np.sort(np.concatenate([joined.find(_COMMA), row_ends[size > 2] - 1]))
    if len(colon) != len(stop):
        rows.good[row] = False
        return np.empty(0, np.int64), np.empty(0, np.uint64), np.empty(0, np.uint64)
    count, count_digits = joined.decimals_before(stop)
    suffix = _SUFFIX_SHIFT[joined.octets[colon - 1]]
    label, label_digits = joined.decimals_before(colon - (suffix > 0))
    of_bin = row[np.searchsorted(row_ends, colon, "right")]
    odd = (stop - count_digits - 2 != colon) | (joined.octets[colon + 1] != 32)
    odd |= (count_digits == 0) | (label_digits == 0) | (label_digits > 4)
    odd |= joined.octets[colon - (suffix > 0) - label_digits - 1] != 32
    rows.good[of_bin[odd]] = False
    return of_bin, label << suffix.astype(np.uint64), count


_SUFFIX_SHIFT: Final = np.zeros(256, np.int64)
for _power, _letter in enumerate(b"KMGTPE", 1):
    _SUFFIX_SHIFT[_letter] = 10 * _power
