"""A site at work: its sources act step by step, its targets count, its servers slow down.

The world knows what really happened; `cluster` decides what of it is seen. One step draws all
requests of all targets in arrays. Every random number comes from a stream of its own purpose, so
that what happens does not depend on what is printed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pfscope.lab.activity import Activity, Draw
from pfscope.lab.archetypes import OPERATIONS, index_of
from pfscope.lab.calibration import DAY_S, Calibration
from pfscope.lab.dialects import BYTES_OPERATIONS, KINDS, Dialect, Kind
from pfscope.lab.entries import Entries
from pfscope.lab.faults import FORGED, Mangler, hostile_ids
from pfscope.lab.incidents import Incident, job_of
from pfscope.lab.machines import NS, Machine, make_machine
from pfscope.lab.measures import Block, groups, zeros
from pfscope.lab.population import Batch, Population
from pfscope.lab.service import (
    NORMAL_UTILISATION,
    costs,
    measure,
    normal_work_us,
    slowdown,
    work_us,
)
from pfscope.lab.site import Site
from pfscope.lab.sources import Ids, Ints, Origin, Origins, Sources, joined, make
from pfscope.lab.tables import Counters
from pfscope.lab.tuning import Tuning
from pfscope.lab.workload import Job, Workload

_FRESH_S = 1800.0
"""How long a selection of sources that are on is used before it is made anew."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What really happened on the targets of one kind, one row for each counter that rose."""

    origin: Ints
    entry_id: Ints
    target: Ints
    operation: Ints
    """Index into the kind's OPERATIONS."""
    increment: Counters
    """Requests; bytes for read_bytes and write_bytes."""


@dataclass(slots=True)
class Side:
    """All targets of one kind."""

    kind: Kind
    activity: Activity
    entries: Entries
    totals: Block
    io_sizes: Counters
    """[targets, 2, sizes in use]"""
    start_ns: NDArray[np.int64]
    """When each target was taken up, by the laboratory's clock."""
    owner: NDArray[np.int64]
    """Which server serves each target now."""
    exports: Block | None
    """[targets * clients]"""
    all: Sources
    now: Sources
    pending: list[Usage] = field(default_factory=list)


class World:
    """One site from `begin_s` on."""

    def __init__(
        self,
        site: Site,
        begin_s: float,
        seeds: Sequence[np.random.SeedSequence],
        *,
        calibration: Calibration,
        faults: frozenset[str],
        incidents: Sequence[Incident],
        dialects: Sequence[Dialect],
        cleanup_interval_s: int = 600,
        exports: bool = False,
    ) -> None:
        streams = [np.random.Generator(np.random.PCG64(seed)) for seed in seeds]
        self.site, self.faults, self.incidents, self.dialects = site, faults, incidents, dialects
        self.cleanup_interval_s = cleanup_interval_s
        self.ids, self.origins = Ids(), Origins()
        self.jobs: list[Job] = []
        self.incident_jobs: dict[int, Job] = {}
        self._workload = Workload(site, begin_s, streams[0])
        self._population = Population(site, faults, self.ids, self.origins, streams[1])
        self._tuning = Tuning(site, calibration)
        self._service_rng, self._entry_rng = streams[4], streams[5]
        self.machine_rng, self._other_rng = streams[6], streams[7]
        self.mangler = Mangler(site, self.ids, self.origins, streams[8])
        self.machines: list[Machine] = [
            make_machine(server, int(begin_s) * NS, self.machine_rng) for server in site.servers
        ]
        self.clients = self._population.clients
        self.sides = {
            kind: self._side(kind, streams[2 + i], begin_s, exports)
            for i, kind in enumerate(KINDS)
        }
        self._capacity = {kind: self._capacity_of(kind) for kind in KINDS}
        self._begin_s, self._days, self._fresh_s = begin_s, 0, -np.inf
        self.load: list[tuple[NDArray[np.int64], NDArray[np.float64], float]] = []

    def step(self, begin_ns: int, end_ns: int) -> None:
        """Let the time from `begin_ns` to `end_ns` pass."""
        self._refresh(begin_ns / NS, end_ns / NS)
        draws = {kind: self._draw(side, begin_ns, end_ns) for kind, side in self.sides.items()}
        work = {kind: work_us(costs(kind), draw) for kind, draw in draws.items()}
        step_s = (end_ns - begin_ns) / NS
        utilisation = self._utilisation(draws, work, step_s)
        slow = slowdown(utilisation)
        loads = []
        for kind, side in self.sides.items():
            draw, server = draws[kind], side.owner[draws[kind].target]
            block = measure(kind, costs(kind), draw, slow[server], self._service_rng)
            self._count(side, draw, block, begin_ns, end_ns)
            side.pending.append(self._usage(side, draw, block))
            origin = side.now.origin[draw.source]
            loads.append((server, origin, work[kind] * slow[server] / (step_s * 1e6)))
        self._work(step_s, draws, utilisation, slow, loads)
