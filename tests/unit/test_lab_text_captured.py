"""Entries of real servers, read and printed again, are the same bytes."""

import re
from pathlib import Path

import numpy as np
import pytest

from pfscope.lab.dialects import BYTES_OPERATIONS, DIALECTS, Dialect, Kind
from pfscope.lab.tables import HISTOGRAM_BINS, TargetTable, TargetTotals
from pfscope.lab.text_jobs import job_stats_text
from pfscope.lab.text_stats import Clock, target_stats_text

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "lustre"
HP = "hp_lustre_exporter/proc/fs/lustre"
TELEGRAF = "telegraf/testcases/v2.12/proc/fs/lustre"
JOB_STATS: list[tuple[str, Kind, str]] = [
    ("2.10", "mdt", f"{HP}/mdt/lustrefs-MDT0000/job_stats"),
    ("2.10", "ost", f"{HP}/obdfilter/lustrefs-OST0000/job_stats"),
    ("2.10", "ost", f"{HP}/obdfilter/lustrefs-OST0002/job_stats"),
    ("2.10", "ost", f"{HP}/obdfilter/lustrefs-OST0004/job_stats"),
    ("2.12", "ost", f"{TELEGRAF}/obdfilter/OST0001/job_stats"),
    ("2.10", "mdt", f"{TELEGRAF}/mdt/OST0001/job_stats"),
    ("2.16", "ost", "datadog/oss_jobstats.txt"),
    ("2.16", "mdt", "datadog/mds_jobstats.txt"),
]
STATS: list[tuple[str, Kind, str]] = [
    ("2.10", "mdt", f"{HP}/mdt/lustrefs-MDT0000/md_stats"),
    ("2.16", "ost", "datadog/oss_obdfilter_stats.txt"),
    ("2.16", "mdt", "datadog/mds_mdt_export_stats.txt"),
]
FIELDS = ("samples", "min", "max", "sum", "sumsq")


def read(path: str) -> bytes:
    if not DATA.is_dir():
        pytest.skip("the captured files are not on this machine")
    return (DATA / path).read_bytes()


@pytest.mark.parametrize(("name", "kind", "path"), JOB_STATS)
def test_job_stats(name: str, kind: Kind, path: str) -> None:
    text = read(path)
    assert job_stats_text(DIALECTS[name], table_of(DIALECTS[name], kind, text)) == text


def table_of(dialect: Dialect, kind: Kind, text: bytes) -> TargetTable:
    entries = text.split(b"- job_id:")[1:]
    shape = (len(entries), len(dialect.operations(kind)))
    numbers = {field: np.zeros(shape, np.uint64) for field in FIELDS}
    bars = np.zeros((len(entries), 2, HISTOGRAM_BINS), np.uint64)
    for row, entry in enumerate(entries):
        for column, operation in enumerate(dialect.operations(kind)):
            line = re.search(rb"^  %s: .*$" % operation.encode(), entry, re.MULTILINE)
            assert line is not None, operation
            for field, number in re.findall(rb"(samples|min|max|sum|sumsq):\s*(\d+)", line[0]):
                numbers[field.decode()][row, column] = int(number)
            for bin_, count in bars_of(line[0]):
                bars[row, BYTES_OPERATIONS.index(operation), bin_] = count
    ids = [entry.split(b"\n")[0].strip() for entry in entries]
    times = np.array([times_of(entry) for entry in entries], np.int64).reshape(-1, 2)
    return TargetTable("t", kind, ids, times[:, 0], times[:, 1], *numbers.values(), bars)


def bars_of(line: bytes) -> list[tuple[int, int]]:
    text = line.partition(b"hist: {")[2]
    shifts = {b"": 0, b"K": 10, b"M": 20, b"G": 30}
    found = re.findall(rb"(\d+)([KMG]?): (\d+)", text)
    return [(int(n).bit_length() - 1 + shifts[unit], int(c)) for n, unit, c in found]


def times_of(entry: bytes) -> tuple[int, int]:
    times = []
    for name in (b"snapshot", b"start"):
        match = re.search(rb"%s_time:\s*(\d+)(?:\.(\d+))?" % name, entry)
        times.append(int(match[1]) * 10**9 + int(match[2] or 0) if match else 0)
    return times[0], times[1]


@pytest.mark.parametrize(("name", "kind", "path"), STATS)
def test_stats(name: str, kind: Kind, path: str) -> None:
    dialect, text = DIALECTS[name], read(path)
    numbers = np.zeros((5, len(dialect.operations(kind))), np.uint64)
    for line in text.decode().splitlines():
        operation, *words = line.split()
        if words[1] == "samples":
            found = [int(words[0]), *map(int, words[3:])]
            numbers[: len(found), dialect.operations(kind).index(operation)] = found
    times = re.findall(r"(?:snapshot|start)_time +(\d+)\.(\d+)", text.decode())
    now_ns, *start_ns = (int(s) * 10**9 + int(ns) for s, ns in times)
    clock = Clock(now_ns, start_ns[0] if start_ns else 0, 0)
    empty = np.zeros((2, HISTOGRAM_BINS), np.uint64)
    totals = TargetTotals("t", kind, 0, *numbers, empty, 0, 0, 0, 0, 0)
    assert target_stats_text(dialect, clock, totals) == text
