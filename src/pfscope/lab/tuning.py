"""Turns sources loose at the right strength: requests per second, and entries that can be seen.

What the compute nodes of a site do in a day equals the figures of the calibration, scaled to the
site; login and utility nodes add a fixed part. How many entries of each form stand in a snapshot
follows the counts over 113 snapshots of Puhti in the Aalto/CSC thesis' draft.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pfscope.lab.archetypes import (
    BY_PEOPLE,
    OPERATIONS,
    Archetype,
    Profiles,
    index_of,
    profiles,
)
from pfscope.lab.calibration import DAY_S, Calibration, Figures
from pfscope.lab.dialects import KINDS, Kind
from pfscope.lab.population import PUHTI_OSTS, Batch
from pfscope.lab.site import Site
from pfscope.lab.sources import Floats, Sources, active_seconds, joined

PRESENT: dict[str, dict[Kind, float]] = {
    "jobs": {"mdt": 1288.0, "ost": 9967.0},
    "job_control": {"mdt": 327.0, "ost": 17.7},
    "login": {"mdt": 487.0, "ost": 2403.0},
    "utility": {"mdt": 53.0, "ost": 86.0},
    "system": {"mdt": 746.0, "ost": 5400.0},
    "system_login": {"mdt": 54.0, "ost": 89.0},
    "system_utility": {"mdt": 0.4, "ost": 13.4},
}
"""Entries in one snapshot of Puhti, by class of source: counts over 113 snapshots, divided."""
LIVES_S = 840.0
"""How long an entry stands after its last request: the cleanup interval and the wait for a scan."""
PARTS = {"compute": 1.0, "login": 0.10, "utility": 0.01, "unattributed": 0.06}
"""Activity relative to the figures, which are those of compute nodes."""
_PAIRS_PER_NODE = 1.65
_FEW = 0.15
"""A day in which an operation's archetypes hardly run keeps its usual strength per job, so far."""


_SIZED = {"read_bytes": ("read", 0), "write_bytes": ("write", 2)}
"""Requests that carry bytes, and the first of their two columns in a factor row's sizes."""


@dataclass(slots=True)
class Factors:
    """Rows that turn an archetype's rates into requests per second, for one kind of target."""

    rates: list[Floats] = field(default_factory=list)
    """One factor for each operation."""
    sizes: list[Floats] = field(default_factory=list)
    """Four factors: small reads, large reads, small writes, large writes."""

    def add(self, rates: Floats, sizes: Floats) -> int:
        """Append a row and return its number."""
        self.rates.append(rates)
        self.sizes.append(sizes)
        return len(self.rates) - 1


@dataclass(frozen=True, slots=True)
class _Work:
    """What sources would do in a day with factors of one, for one kind of target."""

    requests: Floats
    """[operations]"""
    sized: Floats
    """[4] requests with bytes, by size class."""
    bytes: Floats
    """[4]"""


class Tuning:
    """Gives sources their factors and their touches, day by day."""

    def __init__(self, site: Site, calibration: Calibration) -> None:
        self._site, self.calibration = site, calibration
        self.factors: dict[Kind, Factors] = {kind: Factors() for kind in KINDS}
        self.profiles: dict[Kind, Profiles] = {kind: profiles(kind) for kind in KINDS}
        self._compute_rows: dict[tuple[Kind, int], list[int]] = {}

    def roles(self, kind: Kind) -> int:
        """Return how many sorts of targets of a kind there are."""
        return self._site.mdt_roles if kind == "mdt" else 1

    def normal(self, kind: Kind, target: int) -> Figures:
        """Return the normal rates of one target, from compute nodes."""
        figures = self.calibration.figures(kind, target % self.roles(kind))
        count = len(self._site.targets(kind))
        stands_for = (PUHTI_OSTS if kind == "ost" else self._site.mdt_roles) / count
        return {op: rate * self._site.scale * stands_for for op, rate in figures.items()}

    def present(self, name: str, batch: Batch, begin_s: float) -> None:
        """Set how often a class touches its targets, so that it has its number of entries."""
        for kind, sources in batch.items():
            on = active_seconds(sources.on_s, sources.off_s, begin_s, begin_s + DAY_S) / DAY_S
            wanted = PRESENT[name][kind] * self._site.scale
            sources.touch *= _solve_presence(on, sources.touch * sources.duty * LIVES_S, wanted)

    def strength(self, part: str, batches: Sequence[Batch], carried: Batch, begin_s: float) -> None:
        """Set the factors of the sources of one part, given what older sources still do."""
        for kind in KINDS:
            together = joined([batch[kind] for batch in batches])
            for role in range(self.roles(kind)):
                mine = together.take(together.target % self.roles(kind) == role)
                row = self._solve(part, kind, role, mine, carried[kind], begin_s)
                for batch in batches:
                    chosen = batch[kind].target % self.roles(kind) == role
                    batch[kind].factors[chosen] = row

    def unattributed(self, batch: Batch) -> None:
        """Set the factors of requests without an id: a fixed part of what is normal."""
        for kind, sources in batch.items():
            for target in range(self.roles(kind)):
                normal = self.normal(kind, target)
                rates = {op: PARTS["unattributed"] * rate for op, rate in normal.items()}
                mine = sources.target % self.roles(kind) == target
                sources.factors[mine] = self._as_given(kind, rates)

    def incident_row(self, archetype: Archetype, kind: Kind, target: int, factor: float) -> int:
        """Return a row that makes an archetype add `factor` times a target's normal rates."""
        profile, at = self.profiles[kind], index_of(archetype.name)
        normal = self.normal(kind, target)
        rates, sizes = np.zeros(profile.rates.shape[1]), np.zeros(4)
        scales = []
        for op in archetype.main if kind == archetype.main_kind else ():
            if op in _SIZED:
                first = _SIZED[op][1]
                done = profile.sized(at)[1][first : first + 2].sum()
                sizes[first : first + 2] = scale = factor * normal.get(op, 0.0) / done
            else:
                column = OPERATIONS[kind].index(op)
                rates[column] = scale = factor * normal.get(op, 0.0) / profile.rates[at, column]
            scales.append(scale)
        # What the archetype does besides keeps its proportion.
        other = float(np.median(scales)) if scales else 1.0
        rates[rates == 0.0] = other
        sizes[sizes == 0.0] = other
        return self.factors[kind].add(rates, sizes)

    def _solve(
        self, part: str, kind: Kind, role: int, mine: Sources, carried: Sources, begin_s: float
    ) -> int:
        targets = len(self._site.targets(kind)) // self.roles(kind)
        seconds = PARTS[part] * targets * DAY_S
        figures = {op: rate * seconds for op, rate in self.normal(kind, role).items()}
        new = self._work(kind, mine, begin_s)
        if part == "compute":
            self._take_carried(kind, role, figures, carried, begin_s)
            new = self._at_least_usual(kind, new)
        wanted = np.array([figures.get(op, 0.0) for op in OPERATIONS[kind]])
        rates = np.divide(wanted, new.requests, np.zeros(len(wanted)), where=new.requests > 0)
        row = self.factors[kind].add(rates, _size_factors(new, figures))
        if part == "compute":
            self._compute_rows.setdefault((kind, role), []).append(row)
        return row

    def _work(self, kind: Kind, sources: Sources, begin_s: float) -> _Work:
        on = np.maximum(sources.on_s, begin_s)
        off = np.maximum(np.minimum(sources.off_s, begin_s + DAY_S), on)
        busy = self.calibration.busy_seconds(kind, off) - self.calibration.busy_seconds(kind, on)
        seconds = np.where(sources.steady, off - on, busy) * sources.weight
        profile = self.profiles[kind]
        by_archetype = np.bincount(sources.archetype, seconds, len(profile.rates))
        return self._work_of(kind, by_archetype.astype(np.float64))

    def _work_of(self, kind: Kind, seconds: Floats) -> _Work:
        profile = self.profiles[kind]
        sized, size = np.zeros(4), np.zeros(4)
        for archetype in np.flatnonzero(seconds):
            requests, carried = profile.sized(int(archetype))
            sized += seconds[archetype] * requests
            size += seconds[archetype] * carried
        return _Work(seconds @ profile.rates, sized, size)

    def _at_least_usual(self, kind: Kind, work: _Work) -> _Work:
        pairs = _PAIRS_PER_NODE * len(self._site.compute) * DAY_S * _FEW
        usual = np.zeros(len(self.profiles[kind].rates))
        for archetype in BY_PEOPLE:
            usual[index_of(archetype.name)] = archetype.share * pairs
        least = self._work_of(kind, usual)
        return _Work(
            np.maximum(work.requests, least.requests),
            np.maximum(work.sized, least.sized),
            np.maximum(work.bytes, least.bytes),
        )

    def _take_carried(
        self, kind: Kind, role: int, figures: Figures, carried: Sources, begin_s: float
    ) -> None:
        """Take from a day's figures what sources of earlier days do in it."""
        for row in self._compute_rows.get((kind, role), ()):
            work = self._work(kind, carried.take(carried.factors == row), begin_s)
            done = work.requests * self.factors[kind].rates[row]
            for op, requests in zip(OPERATIONS[kind], done.tolist(), strict=True):
                if op in figures and op not in ("read", "write"):
                    figures[op] = max(0.0, figures[op] - requests)
            for op, (requests_op, first) in _SIZED.items():
                span = slice(first, first + 2)
                for name, amount in ((requests_op, work.sized), (op, work.bytes)):
                    if name in figures:
                        old = float((amount * self.factors[kind].sizes[row])[span].sum())
                        figures[name] = max(0.0, figures[name] - old)

    def _as_given(self, kind: Kind, rates: Figures) -> int:
        """Return a row for the archetype that has the rate one for everything."""
        row = np.array([rates.get(op, 0.0) for op in OPERATIONS[kind]])
        for op in ("create", "destroy", "prealloc") if kind == "ost" else ():
            # Objects are made and destroyed by the MDS, which is nobody's process.
            row[OPERATIONS[kind].index(op)] = rates.get("quotactl", 0.0)
        sizes = np.zeros(4)
        for requests, first in _SIZED.values():
            sizes[first : first + 2] = rates.get(requests, 0.0)
        return self.factors[kind].add(row, sizes)


def _size_factors(work: _Work, figures: Figures) -> Floats:
    """Solve for small and large requests, so that both their number and their bytes come true."""
    factors = np.zeros(4)
    for op, (requests_op, first) in _SIZED.items():
        span = slice(first, first + 2)
        requests, size = work.sized[span], work.bytes[span]
        if not requests.sum():
            continue
        if op not in figures:
            factors[span] = figures.get(requests_op, 0.0) / requests.sum()
            continue
        both = np.array([requests, size])
        wanted = np.array([figures[requests_op], figures[op]])
        solved = np.linalg.solve(both, wanted) if np.linalg.det(both) else np.zeros(2)
        factors[span] = solved if (solved > 0).all() else figures[op] / size.sum()
    return factors


def _solve_presence(on: Floats, touches: Floats, wanted: float) -> float:
    """Return the factor by which sources must touch more often to make `wanted` entries."""
    low, high = 1e-4, 1e4
    for _ in range(50):
        middle = float(np.sqrt(low * high))
        seen = float((on * -np.expm1(-touches * middle)).sum())
        low, high = (middle, high) if seen < wanted else (low, middle)
    return low
