"""What Linux says about a server itself: /proc/loadavg, /proc/stat, /proc/meminfo, /proc/uptime.

Each reader takes the content of one file and returns None if it is not that file.
"""

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

_LOADAVG: Final = re.compile(
    rb"(\d{1,9}\.\d+) (\d{1,9}\.\d+) (\d{1,9}\.\d+)"
    rb" (?P<running>\d{1,9})/(?P<processes>\d{1,9}) \d+\s*"
)
_CPU: Final = re.compile(rb"^cpu(?P<core>\d*)(?P<ticks>(?: +\d{1,19})+) *$", re.MULTILINE)
_BTIME: Final = re.compile(rb"^btime (\d{1,19})$", re.MULTILINE)
_MEMORY: Final = re.compile(
    rb"^(?P<name>[\w()]+): +(?P<size>\d{1,19})(?P<unit> kB)?$", re.MULTILINE
)
_UPTIME: Final = re.compile(rb"(\d{1,19}\.\d+) (\d{1,19}\.\d+)\s*")
CPU_STATES: Final = (
    "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LoadAverage:
    """Processes that run or wait, averaged over 1, 5 and 15 minutes."""

    one: float
    five: float
    fifteen: float
    running: int
    processes: int


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """Hundredths of a second since boot."""

    ticks: NDArray[np.uint64]
    """[CPU_STATES] of all cores together."""
    cores: NDArray[np.uint64]
    """[cores, CPU_STATES]."""
    boot_s: int | None
    """When the server booted, seconds since 1970."""


def parse_loadavg(text: bytes) -> LoadAverage | None:
    """Read /proc/loadavg."""
    match = _LOADAVG.fullmatch(text)
    if match is None:
        return None
    one, five, fifteen = (float(match[n]) for n in (1, 2, 3))
    return LoadAverage(one, five, fifteen, int(match["running"]), int(match["processes"]))


def parse_stat(text: bytes) -> CpuTimes | None:
    """Read /proc/stat; states that an older kernel does not tell are zero."""
    rows = {match["core"]: _ticks(match["ticks"]) for match in _CPU.finditer(text)}
    together = rows.pop(b"", None)
    if together is None:
        return None
    cores = np.array(list(rows.values()), np.uint64).reshape(-1, len(CPU_STATES))
    boot = _BTIME.search(text)
    return CpuTimes(np.array(together, np.uint64), cores, int(boot[1]) if boot else None)


def _ticks(text: bytes) -> list[int]:
    ticks = [int(part) for part in text.split()[: len(CPU_STATES)]]
    return ticks + [0] * (len(CPU_STATES) - len(ticks))


def parse_meminfo(text: bytes) -> dict[str, int] | None:
    """Read /proc/meminfo, sizes in bytes."""
    sizes = {
        match["name"].decode(): int(match["size"]) * (1024 if match["unit"] else 1)
        for match in _MEMORY.finditer(text)
    }
    return sizes or None


def parse_uptime(text: bytes) -> tuple[float, float] | None:
    """Read /proc/uptime: seconds since boot, and idle seconds summed over the cores."""
    match = _UPTIME.fullmatch(text)
    return (float(match[1]), float(match[2])) if match else None
