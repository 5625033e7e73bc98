"""Fills a site with sources: its jobs, the people on login and utility nodes, the system users.

Every builder returns the sources of one class for MDTs and for OSTs; `tuning` then decides how
often they touch a target and how many requests they make.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pfscope.lab.archetypes import ARCHETYPES, column, index_of
from pfscope.lab.dialects import KINDS, Kind
from pfscope.lab.site import DOMAIN, Site, User
from pfscope.lab.sources import (
    NO_ID,
    NOBODY,
    Floats,
    Ids,
    Ints,
    Origin,
    Origins,
    Sources,
    joined,
    make,
)
from pfscope.lab.workload import Job

PUHTI_OSTS = 24
_LEAKY = {"missing-job": 0.21, "qualified": 0.0025}
"""Which part of the nodes of jobs loses the job id, or qualifies the host, now and then."""

Batch = dict[Kind, Sources]


@dataclass(frozen=True, slots=True)
class _Groups:
    """Process groups that share an archetype and a lifetime, before they choose targets."""

    entry_id: Ints
    origin: Ints
    node: Ints
    archetype: Ints
    weight: Floats
    on_s: Floats
    off_s: Floats
    job: Ints
    """Groups with one number choose the same OSTs."""
    home: Ints
    """Which of several MDTs of one role holds its files."""
    other_id: dict[Kind, Ints]
    other_share: Floats


class Population:
    """Makes the sources of one site."""

    def __init__(
        self, site: Site, faults: frozenset[str], ids: Ids, origins: Origins,
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        self._site, self._faults, self._rng = site, faults, rng
        self.ids, self.origins = ids, origins
        self.clients = [*site.compute, *site.login, *site.utility]

    def jobs(self, jobs: Sequence[Job]) -> Batch:
        """Return what the processes of jobs do."""
        pairs = [(number, job, node) for number, job in enumerate(jobs) for node in job.nodes]
        groups = self._job_groups(pairs)
        return {"mdt": self._on_mdts(groups), "ost": self._on_osts(groups)}

    def job_control(self, jobs: Sequence[Job]) -> Batch:
        """Return what Slurm's own processes do on the nodes of jobs: root, with a job id."""
        pairs = [(number, job, node) for number, job in enumerate(jobs) for node in job.nodes]
        groups = self._groups(
            [b"%d:0:%s" % (job.raw_id, self._name(node)) for _, job, node in pairs],
            [
                Origin(str(job.raw_id), "0", self._node(node), "slurmstepd")
                for _, job, node in pairs
            ],
            np.array([node for _, _, node in pairs], np.int32),
            "job_control",
            on_s=np.array([job.start_s for _, job, _ in pairs]),
            off_s=np.array([job.end_s for _, job, _ in pairs]),
        )
        return {"mdt": self._on_mdts(groups, roles=2), "ost": self._on_osts(groups, osts=1)}

    def login(self, user_weight: Floats) -> Batch:
        """Return what people do on login nodes: `executable.uid`, one id for all nodes."""
        rng, programs = self._rng, ARCHETYPES["login"].executables
        rows: list[tuple[User, str, int, float]] = []
        first = len(self._site.compute)
        for user, weight in zip(self._site.users, user_weight.tolist(), strict=True):
            for program in rng.choice(len(programs), size=6, replace=False).tolist():
                for _ in range(1 + int(rng.random() < 0.3)):
                    node = first + int(rng.integers(len(self._site.login)))
                    rows.append((user, programs[program], node, weight))
        groups = self._groups(
            [f"{program}.{user.uid}".encode() for user, program, _, _ in rows],
            [Origin(None, str(u.uid), self._node(node), p) for u, p, node, _ in rows],
            np.array([node for _, _, node, _ in rows], np.int32),
            "login",
            weight=np.array([w for _, _, _, w in rows]) * np.exp(rng.normal(0, 1, len(rows))),
        )
        return {"mdt": self._on_mdts(groups), "ost": self._on_osts(groups)}

    def utility(self, user_weight: Floats) -> Batch:
        """Return what people do through utility nodes, where no job is and the host is told."""
        first = len(self._site.compute) + len(self._site.login)
        nodes = range(first, len(self.clients))
        chosen = self._rng.random((len(self._site.users), len(nodes))) < 0.3
        rows = [
            (user, node, weight)
            for user, weight, mine in zip(
                self._site.users, user_weight.tolist(), chosen.tolist(), strict=True
            )
            for node, yes in zip(nodes, mine, strict=True)
            if yes
        ]
        groups = self._groups(
            [b":%d:%s" % (user.uid, self._name(node)) for user, node, _ in rows],
            [Origin(None, str(user.uid), self._node(node), "ood") for user, node, _ in rows],
            np.array([node for _, node, _ in rows], np.int32),
            "login",
            weight=np.array([weight for _, _, weight in rows]),
        )
        return {"mdt": self._on_mdts(groups), "ost": self._on_osts(groups)}

    def system(self) -> Batch:
        """Return what root and Slurm's account do on each compute node: hardly more than statfs."""
        nodes = range(len(self._site.compute))
        root, slurm = self._site.system_users
        with_slurm = np.flatnonzero(self._rng.random(len(nodes)) < 0.25).tolist()
        rows = [*((root, node) for node in nodes), *((slurm, node) for node in with_slurm)]
        groups = self._plain_system(rows)
        return {"mdt": self._on_mdts(groups, roles=0), "ost": self._on_osts(groups, osts=0)}

    def system_utility(self) -> Batch:
        """Return what root does on utility nodes."""
        first = len(self._site.compute) + len(self._site.login)
        root = self._site.system_users[0]
        groups = self._plain_system([(root, node) for node in range(first, len(self.clients))])
        return {"mdt": self._on_mdts(groups, roles=0), "ost": self._on_osts(groups, osts=0)}

    def system_login(self) -> Batch:
        """Return what root does on login nodes."""
        programs = ARCHETYPES["system"].executables
        first, count = len(self._site.compute), len(self._site.login)
        nodes = first + np.arange(len(programs), dtype=np.int32) % count
        groups = self._groups(
            [f"{program}.0".encode() for program in programs],
            [
                Origin(None, "0", self._node(node), program)
                for program, node in zip(programs, nodes.tolist(), strict=True)
            ],
            nodes,
            "system",
        )
        return {"mdt": self._on_mdts(groups, roles=0), "ost": self._on_osts(groups, osts=0)}

    def unattributed(self) -> Batch:
        """Return the requests of processes that get no id, one source for each target."""
        archetype = index_of("unattributed")
        batch: Batch = {}
        for kind in KINDS:
            count = len(self._site.targets(kind))
            target = np.arange(count, dtype=np.int32)
            batch[kind] = make(
                count, target=target, entry_id=NO_ID, origin=NOBODY, archetype=archetype
            )
        return batch

    def _plain_system(self, rows: Sequence[tuple[User, int]]) -> _Groups:
        plain = [b":%d:%s" % (user.uid, self._name(node)) for user, node in rows]
        groups = self._groups(
            plain,
            [Origin(None, str(user.uid), self._node(node), "statfs") for user, node in rows],
            np.array([node for _, node in rows], np.int32),
            "system",
        )
        qualified = self.ids.numbers(raw + b"." + DOMAIN.encode() for raw in plain)
        return self._leaking(groups, {"qualified": (0.0005, {"ost": qualified})})

    def _job_groups(self, pairs: Sequence[tuple[int, Job, int]]) -> _Groups:
        users = self._site.users
        names = [(job.raw_id, users[job.user].uid, self._name(node)) for _, job, node in pairs]
        groups = self._groups(
            [b"%d:%d:%s" % name for name in names],
            [
                Origin(str(raw), str(uid), self._node(node), job.executable)
                for (raw, uid, _), (_, job, node) in zip(names, pairs, strict=True)
            ],
            np.array([node for _, _, node in pairs], np.int32),
            np.array([index_of(job.archetype.name) for _, job, _ in pairs], np.int32),
            weight=np.array([job.weight for _, job, _ in pairs]),
            on_s=np.array([job.start_s for _, job, _ in pairs]),
            off_s=np.array([job.end_s for _, job, _ in pairs]),
            job=np.array([number for number, _, _ in pairs], np.int32),
            home=np.array([users[job.user].gid for _, job, _ in pairs], np.int32),
        )
        missing = self.ids.numbers(b":%d:%s" % (uid, node) for _, uid, node in names)
        qualified = self.ids.numbers(
            b"%d:%d:%s.%s" % (*name, DOMAIN.encode()) for name in names
        )  # fmt: skip
        return self._leaking(
            groups,
            {
                "missing-job": (_LEAKY["missing-job"], {"mdt": missing, "ost": missing}),
                "qualified": (_LEAKY["qualified"], {"ost": qualified}),
            },
        )

    def _leaking(
        self, groups: _Groups, faults: dict[str, tuple[float, dict[Kind, Ints]]]
    ) -> _Groups:
        """Give some of the groups a second id; what is drawn is the same without the faults."""
        for fault, (share, other) in faults.items():
            leaky = self._rng.random(len(groups.entry_id)) < share
            if fault not in self._faults:
                continue
            groups.other_share[leaky] = 0.5
            for kind, ids in other.items():
                groups.other_id[kind][leaky] = ids[leaky]
        return groups

    def _groups(
        self, raw: Sequence[bytes], origins: Sequence[Origin], node: Ints,
        archetype: str | Ints, *, weight: Floats | None = None, on_s: Floats | None = None,
        off_s: Floats | None = None, job: Ints | None = None, home: Ints | None = None,
    ) -> _Groups:  # fmt: skip
        count = len(raw)
        if isinstance(archetype, str):
            archetype = np.full(count, index_of(archetype), np.int32)
        number = np.arange(count, dtype=np.int32)
        return _Groups(
            self.ids.numbers(raw),
            self.origins.add(origins),
            node,
            archetype,
            np.ones(count) if weight is None else weight,
            np.full(count, -np.inf) if on_s is None else on_s,
            np.full(count, np.inf) if off_s is None else off_s,
            number if job is None else job,
            number if home is None else home,
            {kind: np.full(count, NO_ID, np.int32) for kind in KINDS},
            np.zeros(count),
        )

    def _on_mdts(self, groups: _Groups, roles: int = 1) -> Sources:
        """Spread groups over MDTs: 0 all; 1 their storage area, maybe software; 2 both for sure."""
        total, kinds = len(self._site.mdts), self._site.mdt_roles
        count = len(groups.entry_id)
        if roles == 0:
            rows, targets = np.divmod(np.arange(count * total), total)
            return self._spread("mdt", groups, rows, targets, np.ones(len(rows)))
        software = column("software")[groups.archetype] + (1.0 if roles == 2 else 0.0)
        second = np.flatnonzero(self._rng.random(count) < software)
        rows = np.concatenate((np.arange(count), second))
        role = np.repeat([0, min(1, kinds - 1)], [count, len(second)])
        copies = total // kinds
        targets = role + kinds * (groups.home[rows] % copies)
        return self._spread("mdt", groups, rows, targets, np.ones(len(rows)))

    def _on_osts(self, groups: _Groups, osts: int | None = None) -> Sources:
        """Choose OSTs, the same for all nodes of a job, and share the work unevenly among them."""
        total = len(self._site.osts)
        jobs, job = np.unique(groups.job, return_inverse=True)
        wanted = column("osts")[groups.archetype] if osts is None else np.full(len(job), osts)
        few = np.ceil(wanted * min(1.0, total / PUHTI_OSTS))
        few = np.where(wanted == 0, total, np.minimum(few, total)).astype(np.int64)
        order = np.argsort(self._rng.random((len(jobs), total)), axis=1)
        rows = np.repeat(np.arange(len(job)), few)
        nth = np.arange(len(rows)) - np.repeat(np.cumsum(few) - few, few)
        share = self._rng.standard_gamma(1.0, len(rows)) + 0.01
        share /= np.bincount(rows, share, len(job))[rows]
        return self._spread("ost", groups, rows, order[job[rows], nth], share)

    def _spread(
        self, kind: Kind, groups: _Groups, rows: NDArray[np.int64], targets: NDArray[np.int64],
        share: Floats,
    ) -> Sources:  # fmt: skip
        archetype = groups.archetype[rows]
        weight = groups.weight[rows] * share
        period = column("period_s")[archetype]
        return make(
            len(rows),
            target=targets,
            entry_id=groups.entry_id[rows],
            other_id=groups.other_id[kind][rows],
            other_share=np.where(groups.other_id[kind] >= 0, groups.other_share, 0.0)[rows],
            origin=groups.origin[rows],
            node=groups.node[rows],
            archetype=archetype,
            weight=weight,
            touch=np.clip(np.sqrt(weight), 0.05, 3.0) / column("touch_s")[archetype],
            phase_s=self._rng.random(len(groups.entry_id))[rows] * period,
            period_s=period,
            duty=column("duty")[archetype],
            steady=np.isin(archetype, [index_of("system"), index_of("job_control")]),
            on_s=groups.on_s[rows],
            off_s=groups.off_s[rows],
        )

    def _node(self, index: int) -> str:
        return self.clients[index].name

    def _name(self, index: int) -> bytes:
        return self.clients[index].name.encode()


def everything(batches: Sequence[Batch], kind: Kind) -> Sources:
    """Return the sources of several classes for one kind of target."""
    return joined([batch[kind] for batch in batches])
