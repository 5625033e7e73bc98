"""The fast printer against one that prints entry by entry and is obviously right."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings

from pfscope.lab.dialects import BYTES_OPERATIONS, DIALECTS, KINDS, Dialect, Kind
from pfscope.lab.tables import HISTOGRAM_BINS, TargetTable
from pfscope.lab.text_jobs import job_stats_text
from tests.support.lab_tables import BOOT_NS, tables

LABELS = [f"{1 << n % 10}{'KM'[n // 10 - 1] if n >= 10 else ''}" for n in range(30)] + ["1G", "2G"]
LETTERS = frozenset(range(0xC0, 0x100)) - {0xD7, 0xF7}


def reference(dialect: Dialect, table: TargetTable) -> bytes:
    if not table.ids and not dialect.idle_header:
        return b""
    lines = (line for row in range(len(table.ids)) for line in entry_lines(dialect, table, row))
    return b"".join([b"job_stats:\n", *lines])


def entry_lines(dialect: Dialect, table: TargetTable, row: int) -> Iterator[bytes]:
    yield b"- %-16s %s\n" % (b"job_id:", reference_id(dialect, table.ids[row]))
    yield from time_lines(dialect, int(table.snapshot_ns[row]), int(table.start_ns[row]))
    for column, operation in enumerate(dialect.operations(table.kind)):
        yield operation_line(dialect, table, row, column, operation).encode()


def reference_id(dialect: Dialect, raw: bytes) -> bytes:
    if dialect.quoting == "raw":
        return raw
    if dialect.quoting == "question":
        return bytes(b if chr(b).isprintable() or b in (0xA0, 0xAD) else 0x3F for b in raw)
    literal = b".@-_:/" if dialect.quoting == "hex-lenient" else b".@-_"
    text, quote = b"", b""
    for b in raw:
        if b in literal or b in LETTERS or (b < 128 and chr(b).isalnum()):
            text += bytes([b])
        else:
            text += b"\\x%02X" % b
            quote = b'"'
    if dialect.quoting == "hex-lenient" and (b":" in raw or raw[:1] == b"@"):
        quote = b'"'
    return quote + text + quote


def time_lines(dialect: Dialect, snapshot: int, start: int) -> Iterator[bytes]:
    if dialect.times == "seconds":
        yield b"  %-16s %d\n" % (b"snapshot_time:", snapshot // 10**9)
        return
    origin = BOOT_NS if dialect.times == "boot" else 0
    times = (("snapshot_time", snapshot - origin), ("start_time", start - origin))
    for name, ns in (*times, ("elapsed_time", snapshot - start)):
        label = f"{name:<16}:" if dialect.times == "boot" else f"  {name + ':':<16}"
        yield f"{label} {ns // 10**9}.{ns % 10**9:09d} secs.nsecs\n".encode()


def operation_line(
    dialect: Dialect, table: TargetTable, row: int, column: int, operation: str
) -> str:
    blank = " " if dialect.blank_after_colon else ""
    in_bytes = operation in BYTES_OPERATIONS
    unit = "usecs" if dialect.service_times else "reqs"
    if in_bytes and (table.kind == "ost" or dialect.service_times):
        unit = "bytes"
    cells = [int(a[row, column]) for a in measures(table)]
    samples, smallest, largest, total, sumsq = cells if cells[0] else [0] * 5
    text = f"  {operation + ':':<16} {{ samples: {samples:>11}, unit: {unit:>5}"
    if dialect.service_times or in_bytes:
        text += f", min:{blank}{smallest:>8}, max:{blank}{largest:>8}, sum:{blank}{total:>16}"
    if dialect.service_times:
        text += f", sumsq: {sumsq:>18}"
    if dialect.histograms and in_bytes:
        bars = table.histograms[row, BYTES_OPERATIONS.index(operation)].tolist()
        bars = [*bars[:31], sum(bars[31:])]
        shown = (f"{label}: {n}" for label, n in zip(LABELS, bars, strict=True) if n)
        text += f", hist: {{ {', '.join(shown)} }}"
    return text + " }\n"


def measures(table: TargetTable) -> tuple[np.ndarray, ...]:
    return table.samples, table.minimum, table.maximum, table.total, table.sumsq


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_prints_what_the_reference_prints(name: str, kind: Kind) -> None:
    dialect = DIALECTS[name]

    @settings(max_examples=15, deadline=None)
    @given(tables(dialect, kind))
    def check(table: TargetTable) -> None:
        assert job_stats_text(dialect, table, BOOT_NS) == reference(dialect, table)

    check()


def test_blocks_join_without_a_seam() -> None:
    dialect, count = DIALECTS["2.16"], 3000
    rng = np.random.default_rng(5)
    shape = (count, len(dialect.mdt_operations))
    table = TargetTable(
        "scratch-MDT0000",
        "mdt",
        [b"%d:%d:n%d" % (n, n % 7, n % 11) for n in range(count)],
        np.full(count, BOOT_NS + 7, np.int64),
        np.full(count, BOOT_NS, np.int64),
        *(rng.integers(0, 10 ** int(rng.integers(1, 19)), shape, np.uint64) for _ in range(5)),
        rng.integers(0, 2, (count, 2, HISTOGRAM_BINS), np.uint64),
    )
    assert job_stats_text(dialect, table, BOOT_NS) == reference(dialect, table)
