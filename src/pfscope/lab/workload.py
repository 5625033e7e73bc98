"""Who runs what, where and when: the jobs of a site, day after day.

Lanes (one node, a part of it, or a group of nodes) hold one job after the other, so that no node
ever has more jobs than its pool allows. A few users run and load much, most little.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from pfscope.lab.archetypes import BY_PEOPLE, Archetype
from pfscope.lab.calibration import DAY_S
from pfscope.lab.site import Pool, Site

FIRST_JOB_ID = 11_300_000
_LANES_PER_BUNDLE = 6
_SPREAD = 1.1
"""Sigma of the logarithm of run times."""
_MEAN_GAP_S = 240.0
_STATES = ("COMPLETED", "FAILED", "CANCELLED", "OUT_OF_MEMORY", "NODE_FAIL")
_STATE_SHARES = (0.83, 0.09, 0.055, 0.02, 0.005)


@dataclass(frozen=True, slots=True)
class Job:
    """One Slurm job, or one task of an array."""

    raw_id: int
    array_id: int | None
    """The id of the array to which it belongs."""
    array_task: int | None
    user: int
    """Index into the site's users."""
    archetype: Archetype
    executable: str
    name: str
    partition: str
    nodes: tuple[int, ...]
    """Indices into the site's compute nodes."""
    submit_s: float
    start_s: float
    end_s: float
    limit_s: float
    state: str
    cores_per_node: int
    weight: float
    """How much I/O each of its nodes does, relative to others of its archetype."""
    incident: int | None = None
    """Index of the incident that it causes."""

    @property
    def slurm_id(self) -> str:
        """Return the id as Slurm shows it to people: `123`, or `120_4` for an array's task."""
        if self.array_id is None:
            return str(self.raw_id)
        return f"{self.array_id}_{self.array_task}"


@dataclass(slots=True)
class _Campaign:
    """Jobs of one kind that one user submits together."""

    user: int
    archetype: Archetype
    executable: str
    array: bool
    left: int
    submitted_s: float
    array_id: int | None = None
    tasks: int = 0


@dataclass(slots=True)
class _Bundle:
    """Lanes of one pool that share a queue of campaigns."""

    pool: Pool
    lanes: list[tuple[int, ...]]
    free: list[tuple[float, int]] = field(default_factory=list)
    """(when, lane), a heap."""
    campaign: _Campaign | None = None


class Workload:
    """The jobs of a site from `begin_s` on, made one day at a time."""

    def __init__(self, site: Site, begin_s: float, rng: np.random.Generator) -> None:
        self._site, self._begin_s, self._rng = site, begin_s, rng
        self._next_id = FIRST_JOB_ID
        count = len(site.users)
        activity = 1.0 / (np.arange(count) + 3.0) ** 0.8
        self._user_share = rng.permutation(activity / activity.sum())
        self.user_weight = np.exp(np.clip(rng.normal(0.0, 1.5, count), -3.5, 3.5))
        shares = np.array([a.share for a in BY_PEOPLE])
        self._tastes = rng.choice(len(BY_PEOPLE), size=(count, 2), p=shares / shares.sum())
        # However small the site, each archetype has somebody who likes it.
        everything = rng.permutation(len(BY_PEOPLE))[:count]
        self._tastes[: len(everything), 0] = everything
        self._bundles = list(self._make_bundles())
        self._started: list[tuple[Job, _Campaign]] = []
        for bundle in self._bundles:
            self._fill(bundle)

    def day(self, index: int) -> list[Job]:
        """Return the jobs that start in day `index` after the beginning, by their start.

        Day 0 holds those that run at the beginning, too. Days must be asked for in order.
        """
        until = self._begin_s + (index + 1) * DAY_S
        made, self._started = self._started, []
        for bundle in self._bundles:
            while bundle.free[0][0] < until:
                start, lane = heapq.heappop(bundle.free)
                made.append(self._start(bundle, lane, start, self._duration(bundle.pool)))
        made.sort(key=lambda pair: (pair[0].start_s, pair[0].nodes))
        return [self._numbered(job, campaign) for job, campaign in made]

    def new_id(self) -> int:
        """Return the next job id."""
        self._next_id += 1 + int(self._rng.integers(3))
        return self._next_id

    def _numbered(self, job: Job, campaign: _Campaign) -> Job:
        if not campaign.array:
            return replace(job, raw_id=self.new_id())
        if campaign.array_id is None:
            campaign.array_id = self.new_id()
        return replace(job, raw_id=self.new_id(), array_id=campaign.array_id)

    def _make_bundles(self) -> Iterator[_Bundle]:
        by_type: dict[str, list[int]] = {}
        for index, node in enumerate(self._site.compute):
            by_type.setdefault(node.node_type, []).append(index)
        given = dict.fromkeys(by_type, 0)
        for pool in self._site.pools:
            nodes = by_type[pool.node_type]
            first = given[pool.node_type]
            count = min(max(1, round(pool.node_share * len(nodes))), len(nodes) - first)
            given[pool.node_type] = first + count
            lanes = list(_lanes(nodes[first : first + count], pool))
            for offset in range(0, len(lanes), _LANES_PER_BUNDLE):
                yield _Bundle(pool, lanes[offset : offset + _LANES_PER_BUNDLE])

    def _fill(self, bundle: _Bundle) -> None:
        """Put a job that is somewhere in its run on each lane; long ones are met more often."""
        for lane in range(len(bundle.lanes)):
            duration = self._duration(bundle.pool, met=True)
            start = self._begin_s - self._rng.random() * duration
            self._started.append(self._start(bundle, lane, start, duration))

    def _duration(self, pool: Pool, met: bool = False) -> float:
        mean = np.log(pool.mean_hours * 3600.0) + (_SPREAD**2 / 2 if met else -(_SPREAD**2) / 2)
        return float(
            np.clip(np.exp(self._rng.normal(mean, _SPREAD)), 20.0, pool.limit_hours * 3600)
        )

    def _start(
        self, bundle: _Bundle, lane: int, start: float, duration: float
    ) -> tuple[Job, _Campaign]:
        campaign = bundle.campaign
        if campaign is None or campaign.left == 0:
            campaign = bundle.campaign = self._new_campaign(start)
        campaign.left -= 1
        campaign.tasks += 1
        end = start + duration
        heapq.heappush(bundle.free, (end + self._rng.exponential(_MEAN_GAP_S), lane))
        return self._job(bundle, lane, campaign, start, end), campaign

    def _new_campaign(self, start: float) -> _Campaign:
        rng = self._rng
        user = int(rng.choice(len(self._user_share), p=self._user_share))
        archetype = BY_PEOPLE[self._tastes[user, int(rng.random() < 0.25)]]
        array = bool(rng.random() < 0.35)
        return _Campaign(
            user,
            archetype,
            archetype.executables[int(rng.integers(len(archetype.executables)))],
            array,
            2 + int(rng.geometric(0.1)) if array else int(rng.geometric(0.6)),
            start - rng.exponential(1800.0),
        )

    def _job(
        self, bundle: _Bundle, lane: int, campaign: _Campaign, start: float, end: float
    ) -> Job:
        pool, rng = bundle.pool, self._rng
        limit = pool.limit_hours * 3600.0
        state = "TIMEOUT" if end - start >= limit else str(rng.choice(_STATES, p=_STATE_SHARES))
        return Job(
            raw_id=0,
            array_id=None,
            array_task=campaign.tasks if campaign.array else None,
            user=campaign.user,
            archetype=campaign.archetype,
            executable=campaign.executable,
            name=f"{campaign.executable.partition('.')[0]}_{campaign.archetype.name[:6]}",
            partition=pool.partition,
            nodes=bundle.lanes[lane],
            submit_s=min(campaign.submitted_s, start),
            start_s=start,
            end_s=end,
            limit_s=limit,
            state=state,
            cores_per_node=max(1, 40 // pool.jobs_per_node),
            weight=float(self.user_weight[campaign.user] * np.exp(rng.normal(0.0, 0.7))),
        )


def _lanes(nodes: list[int], pool: Pool) -> Iterator[tuple[int, ...]]:
    size = min(pool.nodes_per_job, max(1, len(nodes)))
    for first in range(0, len(nodes) - size + 1, size):
        for _ in range(pool.jobs_per_node):
            yield tuple(nodes[first : first + size])
