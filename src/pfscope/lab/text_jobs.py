"""A target's table printed as job_stats, to the byte, many entries at a time.

Every entry is a row of one template in which all counters are zero; only what is not zero is
written. Rows are made in blocks, so that memory does not grow with the number of entries.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pfscope.lab.dialects import BYTES_OPERATIONS, Dialect, Kind
from pfscope.lab.tables import Counters, TargetTable
from pfscope.lab.text_digits import (
    NS,
    Bytes,
    Numbers,
    Positions,
    digits_of,
    field,
    squeezed,
    write_numbers,
)
from pfscope.lab.text_ids import spelled_id

HISTOGRAM_LABELS = [
    b"%d%s" % (1 << (n % 10), suffix) for suffix in (b"", b"K", b"M") for n in range(10)
] + [b"1G", b"2G"]
"""The last bucket is open: it also counts what is larger than its label."""

_BLOCK_BYTES = 1 << 21
_MEASURES = ("minimum", "maximum", "total", "sumsq")
_FIELDS = {  # name in the text, width, name in the table
    "minimum": (b"min", 8),
    "maximum": (b"max", 8),
    "total": (b"sum", 16),
    "sumsq": (b"sumsq", 18),
}


def unit_of(dialect: Dialect, kind: Kind, operation: str) -> str:
    """Return the unit in which a release counts an operation."""
    if operation in BYTES_OPERATIONS and (dialect.service_times or kind == "ost"):
        return "bytes"
    return "usecs" if dialect.service_times else "reqs"


def measures_of(dialect: Dialect, operation: str) -> tuple[str, ...]:
    """Return which of min, max, sum and sumsq a release prints for an operation."""
    if dialect.service_times:
        return _MEASURES
    return _MEASURES[:3] if operation in BYTES_OPERATIONS else ()


def job_stats_text(dialect: Dialect, table: TargetTable, boot_ns: int = 0) -> bytes:
    """Return what reading this target's job_stats gives; times since boot count from `boot_ns`."""
    if not table.ids:
        return b"job_stats:\n" if dialect.idle_header else b""
    return b"job_stats:\n" + b"".join(_blocks(dialect, table, boot_ns))


def _blocks(dialect: Dialect, table: TargetTable, boot_ns: int) -> Iterator[bytes]:
    sheet = _Sheet(dialect, table, boot_ns)
    rows = max(1, _BLOCK_BYTES // len(sheet.row))
    for first in range(0, len(table.ids), rows):
        yield sheet.text(slice(first, first + rows))


@dataclass(frozen=True, slots=True)
class _Slot:
    """Room in the row for one bar of a histogram, empty unless the bar is."""

    counts: Numbers
    start: int
    """Where the separator goes, which only a further bar has."""
    label: bytes
    last: int
    first_bar: bool


class _Sheet:
    """The template of one entry of a table, and what belongs where in it."""

    def __init__(self, dialect: Dialect, table: TargetTable, boot_ns: int) -> None:
        self._table = table
        self._row = bytearray()
        self._slots: list[_Slot] = []
        self._ids = self._put_ids(dialect)
        self._times = self._put_times(dialect, boot_ns)
        self._last = self._put_operations(dialect)
        self.row = np.frombuffer(bytes(self._row), np.uint8)

    def text(self, rows: slice) -> bytes:
        """Return these entries as they are printed."""
        start, ids = self._ids
        out = np.repeat(self.row[None, :], len(self._table.ids[rows]), axis=0)
        out[:, start : start + ids.shape[1]] = ids[rows]
        starts = np.arange(len(out)) * len(self.row)
        for last, values in self._times:
            write_numbers(out.reshape(-1), starts + last, values[rows])
        self._write_counters(out, rows)
        self._write_histograms(out, rows)
        return squeezed(out)

    def _put_ids(self, dialect: Dialect) -> tuple[int, Bytes]:
        self._row += b"- %-16s " % b"job_id:"
        texts = np.array([spelled_id(dialect.quoting, raw) for raw in self._table.ids])
        start, width = len(self._row), texts.itemsize
        self._row += b"\0" * width + b"\n"
        return start, texts.view(np.uint8).reshape(-1, width)

    def _put_times(self, dialect: Dialect, boot_ns: int) -> list[tuple[int, Numbers]]:
        snapshot, start = self._table.snapshot_ns, self._table.start_ns
        if dialect.times == "seconds":
            self._row += b"  %-16s " % b"snapshot_time:"
            seconds = (snapshot // NS).astype(np.uint64)
            column = self._put_number(0, digits_of(seconds)), seconds
            self._row += b"\n"
            return [column]
        boot = dialect.times == "boot"
        origin = boot_ns if boot else 0
        columns: list[tuple[int, Numbers]] = []
        for name, time_ns in (
            (b"snapshot_time", snapshot - origin),
            (b"start_time", start - origin),
            (b"elapsed_time", snapshot - start),
        ):
            self._row += b"%-16s: " % name if boot else b"  %-16s " % (name + b":")
            seconds, nanoseconds = np.divmod(
                np.maximum(time_ns, 0).astype(np.uint64), np.uint64(NS)
            )
            columns.append((self._put_number(0, digits_of(seconds)), seconds))
            self._row += b".000000000"
            columns.append((len(self._row) - 1, nanoseconds))
            self._row += b" secs.nsecs\n"
        return columns

    def _put_operations(self, dialect: Dialect) -> dict[str, Positions]:
        table, operations = self._table, dialect.operations(self._table.kind)
        last = {name: np.full(len(operations), -1) for name in ("samples", *_MEASURES)}
        for column, operation in enumerate(operations):
            unit = unit_of(dialect, table.kind, operation)
            self._row += b"  %-16s { samples: " % f"{operation}:".encode()
            last["samples"][column] = self._put_number(11, digits_of(table.samples[:, column]))
            self._row += b", unit: %5s" % unit.encode()
            for measure in measures_of(dialect, operation):
                name, width = _FIELDS[measure]
                blank = b" " if dialect.blank_after_colon or measure == "sumsq" else b""
                self._row += b", %s:%s" % (name, blank)
                values: Counters = getattr(table, measure)[:, column]
                last[measure][column] = self._put_number(width, digits_of(values))
            if dialect.histograms and operation in BYTES_OPERATIONS:
                self._put_histogram(BYTES_OPERATIONS.index(operation))
            self._row += b" }\n"
        return last

    def _put_number(self, width: int, digits: int) -> int:
        self._row += field(width, digits)
        return len(self._row) - 1

    def _put_histogram(self, which: int) -> None:
        self._row += b", hist: { "
        for number, (label, counts) in enumerate(_bars(self._table, which)):
            text = b"%s: " % label
            room = 2 + len(text) + digits_of(counts)
            start = len(self._row)
            self._row += b"\0" * room
            self._slots.append(_Slot(counts, start, text, len(self._row) - 1, number == 0))
        self._row += b" }"

    def _write_counters(self, out: Bytes, rows: slice) -> None:
        entries, columns = np.nonzero(self._table.samples[rows])
        starts = entries * len(self.row)
        places, numbers = [], []
        for name, last in self._last.items():
            printed = np.flatnonzero(last[columns] >= 0)
            values: Counters = getattr(self._table, name)[rows]
            places.append(starts[printed] + last[columns[printed]])
            numbers.append(values[entries[printed], columns[printed]])
        write_numbers(out.reshape(-1), np.concatenate(places), np.concatenate(numbers))

    def _write_histograms(self, out: Bytes, rows: slice) -> None:
        started = np.zeros(len(out), bool)
        for slot in self._slots:
            if slot.first_bar:
                started[:] = False
            counts = slot.counts[rows]
            there = np.flatnonzero(counts)
            further = there[started[there]]
            out[further, slot.start : slot.start + 2] = np.frombuffer(b", ", np.uint8)
            label = np.frombuffer(slot.label, np.uint8)
            out[there, slot.start + 2 : slot.start + 2 + len(label)] = label
            write_numbers(out.reshape(-1), there * len(self.row) + slot.last, counts[there])
            started[there] = True


def _bars(table: TargetTable, which: int) -> Iterator[tuple[bytes, Numbers]]:
    """Yield the labels that any entry needs, each with the count of every entry."""
    if table.histograms is None:
        return
    bins = table.histograms[:, which]
    final = len(HISTOGRAM_LABELS) - 1
    for number, label in enumerate(HISTOGRAM_LABELS):
        counts = bins[:, final:].sum(axis=1) if number == final else bins[:, number]
        if counts.any():
            yield label, counts
