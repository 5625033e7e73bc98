"""What a server holds at one instant, as dense arrays: made by `cluster`, printed by `text`.

Rows are entries in the order in which Lustre prints them; columns are the dialect's operations.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pfscope.lab.dialects import Dialect, Kind

Counters = NDArray[np.uint64]
HISTOGRAM_BINS = 64
"""Bin b of a histogram counts the sizes in (2^(b-1), 2^b]; its label is 2^b bytes."""


@dataclass(frozen=True, slots=True)
class TargetTable:
    """The entries of one target, one row each, one column for each operation of the dialect."""

    target: str
    kind: Kind
    ids: list[bytes]
    """The raw ids, as the client sent them (at most 31 bytes)."""
    snapshot_ns: NDArray[np.int64]
    """When the entry was last updated, nanoseconds since 1970 by the server's clock."""
    start_ns: NDArray[np.int64]
    """When the entry began to count, by the same clock."""
    samples: Counters
    minimum: Counters
    maximum: Counters
    total: Counters
    sumsq: Counters
    """Sum of squares modulo 2^64. All four are zero where nothing is measured."""
    histograms: Counters | None = None
    """[entries, 2, HISTOGRAM_BINS] for read_bytes and write_bytes, where the dialect has them."""


@dataclass(frozen=True, slots=True)
class TargetTotals:
    """What a target counted in all, unattributed requests included: `stats` and `md_stats`.

    Arrays have one column for each operation of the dialect, as in `TargetTable`.
    """

    target: str
    kind: Kind
    start_ns: int
    """When the server took the target up, by the server's clock."""
    samples: Counters
    minimum: Counters
    maximum: Counters
    total: Counters
    sumsq: Counters
    io_sizes: Counters
    """[2, HISTOGRAM_BINS] requests by size, read and write: `brw_stats`."""
    num_exports: int
    kbytes_total: int
    kbytes_free: int
    files_total: int
    files_free: int


@dataclass(frozen=True, slots=True)
class ExportTotals:
    """What each client of one target caused, by its network address: `exports/<NID>/stats`."""

    target: str
    kind: Kind
    nids: list[str]
    start_ns: int
    samples: Counters
    """[clients, operations], and so the others."""
    minimum: Counters
    maximum: Counters
    total: Counters
    sumsq: Counters


@dataclass(frozen=True, slots=True)
class Tally:
    """A measured counter: how often, and of what size."""

    samples: int
    minimum: int
    maximum: int
    total: int
    sumsq: int


@dataclass(frozen=True, slots=True)
class ServiceTotals:
    """A request service of a server, such as `ost.OSS.ost_io` or `mds.MDS.mdt`."""

    name: str
    threads_min: int
    threads_max: int
    threads_started: int
    req_waittime: Tally
    """Microseconds in the queue."""
    req_qdepth: Tally
    req_active: Tally


@dataclass(frozen=True, slots=True)
class Host:
    """The state of the machine: what /proc/loadavg, stat, meminfo and uptime say."""

    cores: int
    loadavg: tuple[float, float, float]
    running: int
    processes: int
    cpu_ticks: tuple[int, int, int, int, int, int, int, int]
    """user, nice, system, idle, iowait, irq, softirq, steal: hundredths of a second since boot."""
    uptime_s: float
    memory_total_kib: int
    memory_free_kib: int
    memory_cached_kib: int


@dataclass(frozen=True, slots=True)
class ServerSnapshot:
    """Everything that one server shows at one instant."""

    server: str
    kind: Kind
    file_system: str
    dialect: Dialect
    time_ns: int
    """The instant by the server's own clock, which may have been stepped."""
    true_time_ns: int
    boot_ns: int
    """When the server booted, by its own clock."""
    boot_id: str
    """A UUID that is new after each boot."""
    job_cleanup_interval_s: int
    tables: list[TargetTable]
    totals: list[TargetTotals]
    """One for each of `tables`, in the same order."""
    services: list[ServiceTotals]
    host: Host
    exports: list[ExportTotals] = field(default_factory=list)
    """One for each of `tables` where the clients were asked for, else empty."""
