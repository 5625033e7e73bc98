"""A site at work: its sources act step by step, its targets count, its servers slow down.

The world knows what really happens; `cluster` decides what of it is seen. Each purpose has its own
stream of random numbers, so that what happens does not depend on what is printed.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pfscope.lab.activity import Activity
from pfscope.lab.calibration import DAY_S
from pfscope.lab.dialects import KINDS, Kind
from pfscope.lab.entries import Entries
from pfscope.lab.faults import Mangler
from pfscope.lab.machines import NS, Machine, make_machine
from pfscope.lab.population import Batch
from pfscope.lab.service import NORMAL_UTILISATION, costs, normal_work_us, slowdown
from pfscope.lab.side import Side, Step, Usage, used
from pfscope.lab.site import Site
from pfscope.lab.sources import Floats, joined, make
from pfscope.lab.staging import Staging, still_on

_FRESH_S = 1800.0
"""How long a selection of sources that are on is used before it is made anew."""


@dataclass(frozen=True, slots=True)
class Load:
    """Mean load of each server by account, since the last observation."""

    server: NDArray[np.int64]
    account: NDArray[np.int64]
    """-1: requests of processes that have no id."""
    load: Floats


@dataclass(slots=True)
class _LoadSum:
    """Load times seconds, by server and account."""

    seconds: float = 0.0
    server: list[NDArray[np.int64]] = field(default_factory=list)
    account: list[NDArray[np.int32]] = field(default_factory=list)
    load_s: list[Floats] = field(default_factory=list)


class World:
    """One site from its beginning on."""

    def __init__(
        self, site: Site, begin_s: float, staging: Staging, streams: dict[str, np.random.Generator],
        *, cleanup_interval_s: int, exports: bool,
    ) -> None:  # fmt: skip
        self.site, self.staging, self._streams = site, staging, streams
        self.cleanup_interval_s, self._begin_s = cleanup_interval_s, begin_s
        begin_ns = int(begin_s) * NS
        self.machines: list[Machine] = [
            make_machine(server, begin_ns, streams["machines"]) for server in site.servers
        ]
        self.mangler = Mangler(site, staging.ids, staging.origins, streams["mangled"])
        self.mangling = False
        self.sides = {kind: self._side(kind, begin_ns, exports) for kind in KINDS}
        self._capacity = np.array([self._capacity_of(m.server.kind) for m in self.machines])
        nothing = {kind: make(0, target=0, entry_id=0, origin=0, archetype=0) for kind in KINDS}
        self._all: Batch = dict(nothing)
        self._on: Batch = dict(nothing)
        self._fresh_until_s, self._days = -np.inf, 0
        self._load = _LoadSum()

    def step(self, begin_ns: int, end_ns: int) -> None:
        """Let the time from `begin_ns` to `end_ns` pass."""
        steps = self._draw(begin_ns, end_ns)
        step_s = (end_ns - begin_ns) / NS
        utilisation = self._utilisation(steps, step_s)
        slow = slowdown(utilisation)
        offsets = np.array([machine.wall_offset_ns for machine in self.machines])
        for kind, side in self.sides.items():
            side.count(
                steps[kind], self._on[kind], slow[side.owner[steps[kind].draw.target]], begin_ns,
                end_ns, offsets[side.owner],
                self._streams["service"], self._streams["entries"],
            )  # fmt: skip
        self._work(steps, step_s, utilisation, slow)

    def act(self, begin_ns: int, end_ns: int) -> dict[Kind, Usage]:
        """Let time pass in which nobody counts: return what was done, the same as in `step`."""
        steps = self._draw(begin_ns, end_ns)
        return {kind: used(kind, step) for kind, step in steps.items()}

    def scan(self, now_ns: int, servers: NDArray[np.bool_]) -> None:
        """Let idle entries go on some servers, which are about to be read.

        Lustre promises no more than that they go some time after the cleanup interval. They go here
        where a reader can see it: releases without start_time tell a return only by the absence.
        """
        offsets = np.array([machine.wall_offset_ns for machine in self.machines])
        for side in self.sides.values():
            side.scan(now_ns, self.cleanup_interval_s, servers, offsets)

    def load(self) -> Load:
        """Return the mean load by account since the last call."""
        total, self._load = self._load, _LoadSum()
        if not total.server:
            none = np.zeros(0, np.int64)
            return Load(none, none, np.zeros(0))
        server, account = np.concatenate(total.server), np.concatenate(total.account)
        load_s = np.concatenate(total.load_s)
        keys, place = np.unique(server * 2**32 + account + 1, return_inverse=True)
        load = np.bincount(place, load_s, len(keys)) / total.seconds
        return Load(keys >> 32, (keys & (2**32 - 1)) - 1, load)

    def reboot(self, server: int, now_ns: int, down_s: float) -> None:
        """Let a server go down now and come back without its counters."""
        machine = self.machines[server]
        machine.reboot(now_ns, down_s, self._streams["machines"])
        side = self.sides[machine.server.kind]
        for target in np.flatnonzero(side.owner == server).tolist():
            side.forget(target, now_ns, machine.boot_ns)

    def fail_over(self, kind: Kind, target: int, server: int, now_ns: int) -> None:
        """Let another server take up a target now; its counters begin anew there."""
        self.sides[kind].owner[target] = server
        self.sides[kind].forget(target, now_ns, now_ns)

    def _side(self, kind: Kind, begin_ns: int, exports: bool) -> Side:
        tuning = self.staging.tuning
        profiles = tuning.profiles[kind]
        activity = Activity(
            kind, profiles, tuning.factors[kind], tuning.calibration, self._streams[kind]
        )
        owner = self.site.server_of(kind)
        entries = Entries(kind, len(owner), profiles, begin_ns)
        clients = len(self.staging.clients) if exports else 0
        return Side(kind, activity, entries, costs(kind), owner, clients, begin_ns)

    def _capacity_of(self, kind: Kind) -> float:
        """Return the work per second, in microseconds, at which a server is used to the full."""
        tuning = self.staging.tuning
        normal = max(
            sum(normal_work_us(tuning, kind, target) for target in server.targets)
            for server in self.site.servers
            if server.kind == kind
        )
        return normal / NORMAL_UTILISATION

    def _draw(self, begin_ns: int, end_ns: int) -> dict[Kind, Step]:
        self._refresh(begin_ns / NS, end_ns / NS)
        down = np.array([machine.down_until_ns > begin_ns for machine in self.machines])
        steps = {
            kind: side.draw(self._on[kind], begin_ns, end_ns, down[side.owner])
            for kind, side in self.sides.items()
        }
        if self.mangling:
            steps["ost"] = self._mangled(steps["ost"], begin_ns, end_ns)
        return steps

    def _refresh(self, begin_s: float, end_s: float) -> None:
        while end_s > self._begin_s + self._days * DAY_S:
            day_s = self._begin_s + self._days * DAY_S
            carried = {kind: still_on(self._all[kind], day_s) for kind in KINDS}
            added = self.staging.day(self._days, carried)
            self._all = {kind: joined([carried[kind], added[kind]]) for kind in KINDS}
            self.mangler.new_day(day_s, DAY_S)
            self._days += 1
            self._fresh_until_s = -np.inf
        if end_s > self._fresh_until_s:
            self._fresh_until_s = end_s + _FRESH_S
            for kind, sources in self._all.items():
                soon = (sources.on_s < self._fresh_until_s) & (sources.off_s > begin_s)
                self._on[kind] = sources.take(soon)

    def _mangled(self, step: Step, begin_ns: int, end_ns: int) -> Step:
        entry_id = self.mangler.mangle(step.draw.entry_id, step.origin, begin_ns / NS, end_ns / NS)
        return replace(step, draw=replace(step.draw, entry_id=entry_id))

    def _utilisation(self, steps: dict[Kind, Step], step_s: float) -> Floats:
        work = np.zeros(len(self.machines))
        for kind, step in steps.items():
            server = self.sides[kind].owner[step.draw.target]
            work += np.bincount(server, step.work_us, len(work))
        return np.asarray(work / (self._capacity * step_s))

    def _work(
        self, steps: dict[Kind, Step], step_s: float, utilisation: Floats, slow: Floats
    ) -> None:
        """Book the load, and let the machines feel it."""
        load = np.zeros(len(self.machines))
        requests = np.zeros(len(self.machines))
        self._load.seconds += step_s
        for kind, step in steps.items():
            server = self.sides[kind].owner[step.draw.target]
            load_s = step.work_us * slow[server] / 1e6
            self._load.server.append(server)
            self._load.account.append(self.staging.origins.account_of(step.origin))
            self._load.load_s.append(load_s)
            load += np.bincount(server, load_s / step_s, len(load))
            requests += np.bincount(server, step.draw.samples.sum(axis=1), len(load))
        work = utilisation * self._capacity * step_s
        base_us = work / np.maximum(requests, 1.0)
        for index, machine in enumerate(self.machines):
            machine.work(
                step_s, float(load[index]), float(utilisation[index]), int(requests[index]),
                float(slow[index]), float(base_us[index]),
            )  # fmt: skip
