"""A small server snapshot whose every number is known: one busy target, one idle, odd ids."""

import numpy as np

from pfscope.lab.dialects import Dialect, Kind
from pfscope.lab.tables import (
    HISTOGRAM_BINS,
    ExportTotals,
    Host,
    ServerSnapshot,
    ServiceTotals,
    Tally,
    TargetTable,
    TargetTotals,
)

BOOT_NS = 1_700_000_000 * 10**9 + 5
NOW_NS = BOOT_NS + 1_896_533 * 10**9 + 20_113_000
IDS = [b"11317854:17627127:r01c01", b"caf\xe9/\x1b @x.0", b"@odd", b""]
TARGETS: dict[Kind, tuple[str, str]] = {
    "mdt": ("scratch-MDT0000", "scratch-MDT0001"),
    "ost": ("scratch-OST0000", "scratch-OST000a"),
}


def server_snapshot(dialect: Dialect, kind: Kind) -> ServerSnapshot:
    """Return what a server of this kind shows."""
    busy, idle = TARGETS[kind]
    return ServerSnapshot(
        server="mds1" if kind == "mdt" else "oss1",
        kind=kind,
        file_system="scratch",
        dialect=dialect,
        time_ns=NOW_NS,
        true_time_ns=NOW_NS,
        boot_ns=BOOT_NS,
        boot_id="11111111-2222-4333-8444-555555555555",
        job_cleanup_interval_s=600,
        tables=[target_table(dialect, kind, busy, IDS), target_table(dialect, kind, idle, [])],
        totals=[target_totals(dialect, kind, busy, 1000), target_totals(dialect, kind, idle, 0)],
        services=[_service("mds.MDS.mdt" if kind == "mdt" else "ost.OSS.ost_io")],
        host=HOST,
        exports=[_exports(dialect, kind, busy)],
    )


def target_table(dialect: Dialect, kind: Kind, target: str, ids: list[bytes]) -> TargetTable:
    """Return entries whose counters grow from row to row, past every printed width."""
    shape = (len(ids), len(dialect.operations(kind)))
    rows, columns = np.indices(shape, np.uint64)
    samples = np.where(columns % 3 == 0, np.uint64(10) ** (rows * 5) + columns, np.uint64(0))
    numbers = [np.where(samples > 0, samples * np.uint64(f), np.uint64(0)) for f in (1, 2, 3, 5)]
    times = np.arange(len(ids), dtype=np.int64)
    histograms = np.zeros((len(ids), 2, HISTOGRAM_BINS), np.uint64)
    histograms[:, 0, 12:14] = 7
    histograms[1:, 1, [0, 20, 40, 41]] = 3
    return TargetTable(
        target, kind, ids, NOW_NS - times * 10**9, BOOT_NS + times, samples, *numbers, histograms
    )  # fmt: skip


def target_totals(dialect: Dialect, kind: Kind, target: str, scale: int) -> TargetTotals:
    """Return totals that are multiples of `scale`; zero for an idle target."""
    samples = np.arange(len(dialect.operations(kind)), dtype=np.uint64) * np.uint64(scale)
    io_sizes = np.zeros((2, HISTOGRAM_BINS), np.uint64)
    io_sizes[:, 10:13] = scale
    io_sizes[1, 20] = 2 * scale
    return TargetTotals(
        target, kind, BOOT_NS + 10**9, *(samples * np.uint64(f) for f in (1, 2, 3, 4, 5)),
        io_sizes, num_exports=1031, kbytes_total=1 << 37, kbytes_free=1 << 36,
        files_total=1 << 30, files_free=1 << 29,
    )  # fmt: skip


def _exports(dialect: Dialect, kind: Kind, target: str) -> ExportTotals:
    samples = np.arange(2 * len(dialect.operations(kind)), dtype=np.uint64).reshape(2, -1)
    numbers = [samples * np.uint64(f) for f in (1, 2, 3, 4, 5)]
    return ExportTotals(target, kind, ["10.1.0.1@o2ib", "10.1.0.2@o2ib"], BOOT_NS, *numbers)


def _service(name: str) -> ServiceTotals:
    waits = Tally(105101, 9, 15190, 3367224, 423278004)
    return ServiceTotals(name, 3, 512, 64, waits, Tally(105101, 0, 0, 0, 0), Tally(0, 0, 0, 0, 0))


HOST = Host(
    cores=2,
    loadavg=(20.054, 18.1, 7.0),
    running=3,
    processes=812,
    cpu_ticks=(501, 1, 300, 90000, 20, 0, 7, 0),
    uptime_s=1896533.42,
    memory_total_kib=196 << 20,
    memory_free_kib=100 << 20,
    memory_cached_kib=50 << 20,
)
