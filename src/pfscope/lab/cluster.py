"""A simulated Lustre site as it can be observed: every interval, what each server shows.

`Cluster.run` hands over snapshots as columns, without any text; `Cluster.observe` adds what really
happened. A server that is down, or whose agent is out, shows nothing at that time. Same options,
same numbers, on every machine.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfscope.errors import UsageError
from pfscope.lab.archetypes import OPERATIONS
from pfscope.lab.calibration import BUILT_IN, Calibration
from pfscope.lab.dialects import DIALECTS, Dialect, Kind, dialect_of
from pfscope.lab.entries import Shown
from pfscope.lab.faults import IDENTITY_FAULTS, Event, misread, plan
from pfscope.lab.incidents import Request, iso, place
from pfscope.lab.machines import NS, Machine
from pfscope.lab.side import Side, Usage
from pfscope.lab.site import FILE_SYSTEM, make_site
from pfscope.lab.staging import Staging
from pfscope.lab.tables import ServerSnapshot
from pfscope.lab.view import View
from pfscope.lab.world import Load, World
from pfscope.untrusted import ascii_text

DEFAULT_START = datetime(2022, 10, 27, tzinfo=UTC)
WARM_UP_S = 2400
"""What runs unobserved before the first snapshot."""
LONGEST_STEP_S = 120
_PLANNED = 1_000_000
"""Faults are planned for so many observations of an endless run."""
_STREAMS = (
    "site", "jobs", "people", "hostile", "incidents", "mdt", "ost", "service", "entries",
    "machines", "mangled", "events", "reads",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Options:
    """What site to simulate."""

    preset: str = "mini"
    seed: int = 7
    dialects: tuple[str, ...] = ("2.12",)
    """Servers take them in turn."""
    faults: frozenset[str] = IDENTITY_FAULTS
    incidents: tuple[Request, ...] = ()
    events: tuple[Event, ...] = ()
    """Faults at times that were asked for, beside those that are planned."""
    calibration: Calibration = BUILT_IN
    cleanup_interval_s: int = 600
    """job_cleanup_interval; zero: entries never go."""
    exports: bool = False
    """Keep counters for each client, too."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One observation time: what is seen, and what really happened."""

    time_ns: int
    """By the laboratory's clock."""
    snapshots: list[ServerSnapshot]
    usage: dict[Kind, Usage]
    """Since each target's last observation."""
    load: Load


class Cluster:
    """A simulated site. One run at a time; `world` is that of the latest run."""

    world: World

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        chosen = [d for name in self.options.dialects if (d := dialect_of(name))]
        unknown = [name for name in self.options.dialects if not dialect_of(name)]
        if unknown or not self.options.dialects:
            raise UsageError(f"no dialect {unknown or 'given'}: use some of {', '.join(DIALECTS)}")
        self.site = make_site(self.options.preset, self._streams()["site"])
        count = len(self.site.servers)
        self.dialects: list[Dialect] = [chosen[i % len(chosen)] for i in range(count)]
        self.told_faults: list[dict[str, Any]] = []
        self._read_ns: dict[str, int] = {}
        """When each target was last read, by its server's clock."""

    def run(
        self, start: datetime = DEFAULT_START, hours: float = 1.0, interval_s: float = 120.0
    ) -> Iterator[list[ServerSnapshot]]:
        """Yield the snapshots at `start` and after every interval until `hours` have passed."""
        for observation in self.observe(start, hours, interval_s):
            yield observation.snapshots

    def observe(
        self, start: datetime = DEFAULT_START, hours: float = 1.0, interval_s: float = 120.0
    ) -> Iterator[Observation]:
        """Yield snapshots with their truth; `hours` may be infinite."""
        streams, start_ns = self._streams(), round(start.timestamp() * 1000) * 1_000_000
        self.world = self._world(streams, start_ns / NS)
        self.told_faults, self._read_ns = [], {}
        count = 2**40 if np.isinf(hours) else 1 + int(hours * 3600 / interval_s + 1e-9)
        options, planned = self.options, min(count, _PLANNED)
        drawn = plan(
            options.faults, self.site, planned, interval_s, options.cleanup_interval_s,
            streams["events"],
        )  # fmt: skip
        events = (*drawn, *options.events)
        self._pass(start_ns - WARM_UP_S * NS, start_ns)
        self._forget_usage()
        interval_ns = round(interval_s * NS)
        for number in range(count):
            now_ns = start_ns + number * interval_ns
            if number:
                self._pass(now_ns - interval_ns, now_ns)
            yield self._observation(now_ns, streams["reads"])
            for event in (e for e in events if e.observation == number):
                self._happen(event, now_ns, interval_ns)

    def usage(
        self, start: datetime = DEFAULT_START, hours: float = 1.0
    ) -> Iterator[tuple[int, dict[Kind, Usage]]]:
        """Yield the end of each step of two minutes and what was done in it; nobody looks on.

        Many times faster than `observe`, for long times: there are no counters, so servers do not
        fail, and only ids have faults. What is done is the same.
        """
        streams, start_ns = self._streams(), round(start.timestamp() * 1000) * 1_000_000
        self.world = self._world(streams, start_ns / NS)
        step_ns = LONGEST_STEP_S * NS
        for begin_ns in range(start_ns - WARM_UP_S * NS, start_ns, step_ns):
            self.world.act(begin_ns, begin_ns + step_ns)
        for number in range(int(hours * 3600 / LONGEST_STEP_S + 1e-9)):
            begin_ns = start_ns + number * step_ns
            yield begin_ns + step_ns, self.world.act(begin_ns, begin_ns + step_ns)

    def faults_told(self) -> list[dict[str, Any]]:
        """Return what was injected in the latest run, ready for JSON."""
        told = list(self.told_faults)
        standing = sorted(self.options.faults & {"missing-job", "qualified", "hostile"})
        told += [{"fault": fault, "time": None} for fault in standing]
        if "mangled" in self.options.faults:
            mangler = self.world.mangler
            told.append({"fault": "mangled", "time": None, "times": mangler.count})
            told += [
                {"fault": "mangled", "time": iso(first), "until": iso(last)}
                for first, last in mangler.bursts
            ]
        return told

    def _streams(self) -> dict[str, np.random.Generator]:
        seeds = np.random.SeedSequence(self.options.seed).spawn(len(_STREAMS))
        return {
            name: np.random.Generator(np.random.PCG64(seed))
            for name, seed in zip(_STREAMS, seeds, strict=True)
        }

    def _world(self, streams: dict[str, np.random.Generator], start_s: float) -> World:
        options, begin_s = self.options, start_s - WARM_UP_S
        self.incidents = place(options.incidents, self.site, start_s, streams["incidents"])
        staging = Staging(
            self.site, begin_s, calibration=options.calibration, faults=options.faults,
            incidents=self.incidents, streams=streams,
        )  # fmt: skip
        world = World(
            self.site, begin_s, staging, streams,
            cleanup_interval_s=options.cleanup_interval_s, exports=options.exports,
        )  # fmt: skip
        world.mangling = "mangled" in options.faults
        return world

    def _pass(self, begin_ns: int, end_ns: int) -> None:
        """Let time pass in steps that are short against the cleanup interval."""
        steps = -(-(end_ns - begin_ns) // (LONGEST_STEP_S * NS))
        edges = [begin_ns + (end_ns - begin_ns) * i // steps for i in range(steps + 1)]
        for first, last in pairwise(edges):
            self.world.step(first, last)
        machines = self.world.machines
        read = [not m.silent_observations and m.down_until_ns <= end_ns for m in machines]
        self.world.scan(end_ns, np.array(read))

    def _forget_usage(self) -> None:
        for side in self.world.sides.values():
            everything = np.ones(len(side.owner), bool)
            side.observed(everything, np.zeros((len(side.owner), len(OPERATIONS[side.kind])), bool))
        self.world.load()

    def _observation(self, now_ns: int, rng: np.random.Generator) -> Observation:
        shown = {kind: side.entries.shown() for kind, side in self.world.sides.items()}
        snapshots: list[ServerSnapshot] = []
        seen: set[int] = set()
        for index, machine in enumerate(self.world.machines):
            if machine.silent_observations:
                machine.silent_observations -= 1
            elif machine.down_until_ns <= now_ns:
                seen.add(index)
                snapshots.append(self._snapshot(index, machine, now_ns, shown, rng))
        usage = {}
        for kind, side in self.world.sides.items():
            observed = np.isin(side.owner, list(seen))
            usage[kind] = side.observed(observed, self._printed(side))
        return Observation(now_ns, snapshots, usage, self.world.load())

    def _printed(self, side: Side) -> NDArray[np.bool_]:
        """Tell which operations each target prints."""
        names = OPERATIONS[side.kind]
        return np.array(
            [np.isin(names, self.dialects[s].operations(side.kind)) for s in side.owner.tolist()]
        )

    def _snapshot(
        self, index: int, machine: Machine, now_ns: int, shown: dict[Kind, list[Shown]],
        rng: np.random.Generator,
    ) -> ServerSnapshot:  # fmt: skip
        kind, dialect, offset = machine.server.kind, self.dialects[index], machine.wall_offset_ns
        side = self.world.sides[kind]
        view = View(self.site, side, dialect, offset, self.world.staging)
        targets = np.flatnonzero(side.owner == index).tolist()
        tables = []
        for target in targets:
            table = view.table(target, shown[kind][target])

            def tell(fault: str, ids: list[bytes], name: str = table.target) -> None:
                self._tell(fault, now_ns, target=name, ids=[ascii_text(raw) for raw in ids])

            window_ns = self._known_well(table.target, now_ns + offset)
            self._read_ns[table.target] = now_ns + offset
            tables.append(misread(table, dialect, self.options.faults, window_ns, rng, tell))
        return ServerSnapshot(
            server=machine.server.name,
            kind=kind,
            file_system=FILE_SYSTEM,
            dialect=dialect,
            time_ns=now_ns + offset,
            true_time_ns=now_ns,
            boot_ns=machine.boot_ns + offset,
            boot_id=machine.boot_id,
            job_cleanup_interval_s=self.options.cleanup_interval_s,
            tables=tables,
            totals=[view.totals(target) for target in targets],
            services=machine.services(),
            host=machine.host(now_ns),
            exports=[view.exports(t) for t in targets] if self.options.exports else [],
        )

    def _known_well(self, target: str, wall_ns: int) -> tuple[int, int]:
        """Return between which times an entry was updated last that a read may leave out.

        It stood as it is in the read before, and Lustre cannot have removed it: of another one no
        reader of a release without start_time could tell that it had not just begun.
        """
        cleanup_s = self.options.cleanup_interval_s
        removable_ns = wall_ns - cleanup_s * NS if cleanup_s else 0
        return removable_ns, self._read_ns.get(target, 0)

    def _happen(self, event: Event, now_ns: int, interval_ns: int) -> None:
        """Let a fault happen right after an observation."""
        world, name = self.world, self.site.servers[event.server].name
        if event.fault == "agent-outage":
            missing = int(event.amount)
            world.machines[event.server].silent_observations = missing
            until = iso((now_ns + (missing + 1) * interval_ns) / NS)
            self._tell(event.fault, now_ns, server=name, until=until, missing=missing)
        elif event.fault == "clock-step":
            world.machines[event.server].wall_offset_ns += int(event.amount * NS)
            self._tell(event.fault, now_ns, server=name, seconds=round(event.amount, 3))
        elif event.fault == "mangled":
            world.mangler.bursts.append((now_ns / NS, now_ns / NS + event.amount))
        elif event.fault == "reboot":
            world.reboot(event.server, now_ns, event.amount)
            self._tell(event.fault, now_ns, server=name, until=iso(now_ns / NS + event.amount))
        else:
            world.fail_over("ost", event.target, event.other_server, now_ns)
            other = self.site.servers[event.other_server].name
            target = self.site.osts[event.target]
            self._tell(event.fault, now_ns, target=target, server=name, to=other)

    def _tell(self, fault: str, now_ns: int, **details: Any) -> None:
        self.told_faults.append({"fault": fault, "time": iso(now_ns / NS), **details})
