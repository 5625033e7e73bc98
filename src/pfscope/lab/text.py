"""Everything a server shows, as bytes of real files: a snapshot printed in the server's dialect.

Each file has its place in the tree (which moved from /proc to /sys and debugfs over the releases)
and its name for `lctl`. What is printed is in `text_jobs`, `text_stats`, `text_brw`, `text_host`.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pfscope.lab.dialects import Dialect, Kind
from pfscope.lab.lctl import printed
from pfscope.lab.tables import ServerSnapshot, ServiceTotals, TargetTable, TargetTotals
from pfscope.lab.text_brw import brw_stats_text
from pfscope.lab.text_digits import NS
from pfscope.lab.text_host import loadavg_text, meminfo_text, stat_text, uptime_text
from pfscope.lab.text_jobs import job_stats_text
from pfscope.lab.text_stats import (
    Clock,
    export_stats_text,
    service_stats_text,
    target_stats_text,
)

PROC = "/proc/fs/lustre"
SYS = "/sys/fs/lustre"
DEBUG = "/sys/kernel/debug/lustre"
_FOLDER: dict[Kind, str] = {"mdt": "mdt", "ost": "obdfilter"}
_NAMESPACE: dict[Kind, str] = {"mdt": "mdt", "ost": "filter"}


@dataclass(frozen=True, slots=True)
class ServerFile:
    """One file of a server: where it is, what `lctl` calls it, and what it says."""

    path: str
    name: str
    """Dotted; for the files of the machine itself, which `lctl` does not know, the path."""
    value: bytes


def server_files(dialect: Dialect, snapshot: ServerSnapshot) -> Iterator[ServerFile]:
    """Yield all files, grouped by parameter as `lctl get_param PATTERN…` would find them."""
    printer = _Printer(dialect, snapshot)
    yield from printer.jobs()
    yield from printer.targets()
    yield from printer.services()
    yield from printer.locks()
    yield from printer.exports()
    yield from _host_files(snapshot)


def server_sections(dialect: Dialect, snapshot: ServerSnapshot) -> list[tuple[str, bytes]]:
    """Return the name and the content of all files, as an agent collects them."""
    return [(file.name, file.value) for file in server_files(dialect, snapshot)]


def server_text(dialect: Dialect, snapshot: ServerSnapshot) -> bytes:
    """Return what one `lctl get_param` of all parameters prints."""
    files = server_files(dialect, snapshot)
    return b"".join(param_text(dialect, f.name, f.value) for f in files if f.name[0] != "/")


def param_text(dialect: Dialect, name: str, value: bytes) -> bytes:
    """Return what this release's `lctl get_param` prints for a file."""
    return printed(dialect.lctl, name, value)


class _Printer:
    """Prints the files of one snapshot, each in the place where its release keeps it."""

    def __init__(self, dialect: Dialect, snapshot: ServerSnapshot) -> None:
        self._dialect = dialect
        self._snapshot = snapshot
        self._pairs = list(zip(snapshot.tables, snapshot.totals, strict=True))
        self._attributes = SYS if dialect.since("2.14") else PROC
        self._status = DEBUG if dialect.since("2.17") else PROC

    def jobs(self) -> Iterator[ServerFile]:
        dialect, snapshot = self._dialect, self._snapshot
        yield from self._of_targets(
            PROC, "job_stats", lambda t, _: job_stats_text(dialect, t, snapshot.boot_ns)
        )
        interval = _number(snapshot.job_cleanup_interval_s)
        yield from self._of_targets(self._attributes, "job_cleanup_interval", lambda *_: interval)

    def targets(self) -> Iterator[ServerFile]:
        dialect = self._dialect
        for table, totals in self._pairs:
            place, name = (PROC, "md_stats") if table.kind == "mdt" else (self._status, "stats")
            clock = self._clock(totals.start_ns)
            yield _file(
                place, _FOLDER[table.kind], table.target, name,
                value=target_stats_text(dialect, clock, totals),
            )  # fmt: skip
        yield from self._space()
        yield from self._of_targets(
            self._attributes, "num_exports", lambda _, totals: _number(totals.num_exports)
        )
        yield from self._of_targets(self._status, "recovery_status", self._recovery)
        if dialect.since("2.16"):
            yield from self._of_targets(SYS, "eviction_count", lambda *_: _number(0))
        place = DEBUG if dialect.times == "nanoseconds" else PROC
        for table, totals in self._pairs:
            value = brw_stats_text(dialect, self._clock(totals.start_ns), totals.io_sizes)
            yield _file(place, "osd-ldiskfs", table.target, "brw_stats", value=value)

    def services(self) -> Iterator[ServerFile]:
        moved = self._dialect.since("2.12")
        for service in self._snapshot.services:
            parts = service.name.split(".")
            clock = self._clock(self._snapshot.boot_ns)
            value = service_stats_text(self._dialect, clock, service)
            yield _file(DEBUG if moved else PROC, *parts, "stats", value=value)
            for name, count in _threads(service).items():
                yield _file(SYS if moved else PROC, *parts, name, value=_number(count))

    def locks(self) -> Iterator[ServerFile]:
        """Yield the lock counts; the laboratory has no locks, so each entry stands for eight."""
        place = SYS if self._dialect.since("2.10") else PROC
        for table in self._snapshot.tables:
            space = f"{_NAMESPACE[table.kind]}-{table.target}_UUID"
            granted = _number(8 * len(table.ids))
            yield _file(place, "ldlm", "namespaces", space, "lock_count", value=granted)
            pool = {"granted": granted, "grant_rate": _number(0), "cancel_rate": _number(0)}
            for name, value in pool.items():
                yield _file(place, "ldlm", "namespaces", space, "pool", name, value=value)

    def exports(self) -> Iterator[ServerFile]:
        for exports in self._snapshot.exports:
            folder, clock = _FOLDER[exports.kind], self._clock(exports.start_ns)
            for row, nid in enumerate(exports.nids):
                value = export_stats_text(self._dialect, clock, exports, row)
                yield _file(
                    self._status, folder, exports.target, "exports", nid, "stats", value=value
                )

    def _space(self) -> Iterator[ServerFile]:
        for table, totals in self._pairs:
            ost = table.kind == "ost"
            moved = self._dialect.since("2.12" if ost else "2.14")
            for name, number in _space(totals).items():
                yield _file(
                    SYS if moved else PROC, "obdfilter" if ost else "osd-ldiskfs", table.target,
                    name, value=_number(number),
                )  # fmt: skip

    def _recovery(self, _table: TargetTable, totals: TargetTotals) -> bytes:
        clients = totals.num_exports
        return (
            f"status: COMPLETE\nrecovery_start: {totals.start_ns // NS}\nrecovery_duration: 30\n"
            f"completed_clients: {clients}/{clients}\nreplayed_requests: 0\n"
            "last_transno: 4294967295\nVBR: DISABLED\nIR: ENABLED\n"
        ).encode()

    def _of_targets(
        self, place: str, name: str, value: Callable[[TargetTable, TargetTotals], bytes]
    ) -> Iterator[ServerFile]:
        for table, totals in self._pairs:
            text = value(table, totals)
            yield _file(place, _FOLDER[table.kind], table.target, name, value=text)

    def _clock(self, start_ns: int) -> Clock:
        return Clock(self._snapshot.time_ns, start_ns, self._snapshot.boot_ns)


def _file(place: str, *parts: str, value: bytes) -> ServerFile:
    return ServerFile("/".join((place, *parts)), ".".join(parts), value)


def _number(value: int) -> bytes:
    return b"%d\n" % value


def _threads(service: ServiceTotals) -> dict[str, int]:
    return {
        "threads_min": service.threads_min,
        "threads_max": service.threads_max,
        "threads_started": service.threads_started,
    }


def _space(totals: TargetTotals) -> dict[str, int]:
    return {
        "kbytestotal": totals.kbytes_total,
        "kbytesfree": totals.kbytes_free,
        "kbytesavail": totals.kbytes_free * 95 // 100,
        "filestotal": totals.files_total,
        "filesfree": totals.files_free,
    }


def _host_files(snapshot: ServerSnapshot) -> Iterable[ServerFile]:
    host = snapshot.host
    texts = {
        "/proc/loadavg": loadavg_text(host),
        "/proc/stat": stat_text(host, snapshot.boot_ns),
        "/proc/meminfo": meminfo_text(host),
        "/proc/uptime": uptime_text(host),
        "/proc/sys/kernel/random/boot_id": snapshot.boot_id.encode() + b"\n",
    }
    return [ServerFile(path, path, value) for path, value in texts.items()]
