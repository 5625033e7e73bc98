"""What Linux says about a server: /proc/loadavg, /proc/stat, /proc/meminfo, /proc/uptime."""

from collections.abc import Iterator

from pfscope.lab.tables import Host
from pfscope.lab.text_digits import NS

_TICKS = 100
_IDLE = 3


def loadavg_text(host: Host) -> bytes:
    """Return /proc/loadavg."""
    one, five, fifteen = host.loadavg
    averages = f"{one:.2f} {five:.2f} {fifteen:.2f}"
    return f"{averages} {host.running}/{host.processes} {host.processes}\n".encode()


def stat_text(host: Host, boot_ns: int) -> bytes:
    """Return /proc/stat; the cores share the work evenly, but for the remainder."""
    lines = [_cpu_line("cpu ", list(host.cpu_ticks)), *_core_lines(host)]
    lines += [f"btime {boot_ns // NS}", f"processes {host.processes}"]
    lines += [f"procs_running {host.running}", "procs_blocked 0"]
    return "".join(f"{line}\n" for line in lines).encode()


def _core_lines(host: Host) -> Iterator[str]:
    for core in range(host.cores):
        ticks = [t // host.cores + (core < t % host.cores) for t in host.cpu_ticks]
        yield _cpu_line(f"cpu{core}", ticks)


def _cpu_line(name: str, ticks: list[int]) -> str:
    return " ".join([name, *map(str, ticks), "0", "0"])


def meminfo_text(host: Host) -> bytes:
    """Return /proc/meminfo, its first lines."""
    rows = {
        "MemTotal": host.memory_total_kib,
        "MemFree": host.memory_free_kib,
        "MemAvailable": host.memory_free_kib + host.memory_cached_kib,
        "Buffers": 0,
        "Cached": host.memory_cached_kib,
        "SwapTotal": 0,
        "SwapFree": 0,
    }
    return "".join(f"{name + ':':<16}{kib:8d} kB\n" for name, kib in rows.items()).encode()


def uptime_text(host: Host) -> bytes:
    """Return /proc/uptime: seconds since boot, and seconds that all cores were idle."""
    return f"{host.uptime_s:.2f} {host.cpu_ticks[_IDLE] / _TICKS:.2f}\n".encode()
