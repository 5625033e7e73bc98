"""The servers as machines: who serves which target, clocks, boots, processor, services.

Everything counts from the server's boot. A clock step moves the wall clock and nothing else.
"""

from dataclasses import dataclass, field
from uuid import UUID

import numpy as np

from pfscope.lab.site import Server
from pfscope.lab.tables import Host, ServiceTotals, Tally

NS = 1_000_000_000
_CORES = {"mdt": 32, "ost": 24}
_MEMORY_KIB = 192 * 1024 * 1024
_SERVICES = {"mdt": "mds.MDS.mdt", "ost": "ost.OSS.ost_io"}
_THREADS = {"mdt": (16, 1024), "ost": (16, 512)}
_TICKS_PER_S = 100
_WINDOWS_S = (60.0, 300.0, 900.0)


@dataclass(slots=True)
class Machine:
    """One server's state."""

    server: Server
    boot_ns: int
    boot_id: str
    wall_offset_ns: int = 0
    down_until_ns: int = 0
    silent_observations: int = 0
    """How many of the next observations its agent misses."""
    loadavg: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    running: int = 1
    busy_s: list[float] = field(default_factory=lambda: [0.0] * 8)
    tallies: dict[str, Tally] = field(default_factory=dict)
    threads: int = 16

    def work(self, step_s: float, load: float, utilisation: float, requests: int, slow: float,
             base_us: float) -> None:  # fmt: skip
        """Live through a step with this load."""
        for index, window in enumerate(_WINDOWS_S):
            keep = float(np.exp(-step_s / window))
            self.loadavg[index] = self.loadavg[index] * keep + load * (1 - keep)
        self.running = 1 + round(load)
        cores = _CORES[self.server.kind]
        used = min(utilisation, 1.0) * cores * step_s
        shares = (0.01, 0.0, 0.35, 0.0, 0.25, 0.02, 0.04, 0.0)
        for index, share in enumerate(shares):
            self.busy_s[index] += share * used
        self.busy_s[3] += cores * step_s - sum(shares) * used
        wait = max(1, round(base_us * (slow - 1.0)))
        self.threads = max(self.threads, min(_THREADS[self.server.kind][1], 16 + round(load)))
        self._tally("req_waittime", requests, wait)
        self._tally("req_qdepth", requests, round(max(0.0, load - self.threads)))
        self._tally("req_active", requests, min(self.threads, 1 + round(load)))

    def _tally(self, name: str, samples: int, value: int) -> None:
        if not samples:
            return
        old = self.tallies.get(name) or Tally(0, value, 0, 0, 0)
        self.tallies[name] = Tally(
            old.samples + samples,
            min(old.minimum, value),
            max(old.maximum, value),
            old.total + samples * value,
            (old.sumsq + samples * value * value) % 2**64,
        )

    def reboot(self, now_ns: int, down_s: float, rng: np.random.Generator) -> None:
        """Go down now, come back with a new boot id and everything at zero."""
        self.down_until_ns = self.boot_ns = now_ns + int(down_s * NS)
        self.boot_id = new_boot_id(rng)
        self.loadavg, self.busy_s, self.tallies = [0.0, 0.0, 0.0], [0.0] * 8, {}
        self.threads = 16

    def host(self, now_ns: int) -> Host:
        """Return what /proc says."""
        uptime_s = (now_ns - self.boot_ns) / NS
        ticks = [round(busy * _TICKS_PER_S) for busy in self.busy_s]
        cores = _CORES[self.server.kind]
        # Before the laboratory began to look, the machine had nothing to do.
        ticks[3] += max(0, round(cores * uptime_s * _TICKS_PER_S) - sum(ticks))
        cached = min(_MEMORY_KIB // 2, int(uptime_s * 2000))
        return Host(
            cores,
            (self.loadavg[0], self.loadavg[1], self.loadavg[2]),
            self.running,
            700 + self.threads,
            (ticks[0], ticks[1], ticks[2], ticks[3], ticks[4], ticks[5], ticks[6], ticks[7]),
            uptime_s,
            _MEMORY_KIB,
            _MEMORY_KIB - cached - 8 * 1024 * 1024,
            cached,
        )

    def services(self) -> list[ServiceTotals]:
        """Return the request services."""
        nothing = Tally(0, 0, 0, 0, 0)
        kind = self.server.kind
        least, most = _THREADS[kind]
        wait, depth, active = (
            self.tallies.get(name, nothing) for name in ("req_waittime", "req_qdepth", "req_active")
        )
        name = _SERVICES[kind]
        return [ServiceTotals(name, least, most, self.threads, wait, depth, active)]


def new_boot_id(rng: np.random.Generator) -> str:
    """Return a random UUID."""
    return str(UUID(bytes=rng.bytes(16), version=4))


def make_machine(server: Server, begin_ns: int, rng: np.random.Generator) -> Machine:
    """Return a server that booted some hours before `begin_ns`."""
    boot_ns = begin_ns - int(rng.uniform(1.0, 72.0) * 3600) * NS
    return Machine(server, boot_ns, new_boot_id(rng))
