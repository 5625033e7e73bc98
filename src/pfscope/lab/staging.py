"""Puts a site's sources on stage, day after day: jobs, people, the system, incidents.

Whoever has no job is there from the first day on; each day adds the jobs that start in it.
"""

from collections.abc import Sequence

import numpy as np

from pfscope.lab.archetypes import index_of
from pfscope.lab.calibration import DAY_S, Calibration
from pfscope.lab.dialects import KINDS, Kind
from pfscope.lab.faults import hostile_ids
from pfscope.lab.incidents import Incident, job_of
from pfscope.lab.population import Batch, Population
from pfscope.lab.site import Site
from pfscope.lab.sources import ALWAYS, Ids, Origin, Origins, Sources, joined, make
from pfscope.lab.tuning import Tuning
from pfscope.lab.workload import Job, Workload


class Staging:
    """Everything that will happen on a site, made one day at a time."""

    def __init__(
        self,
        site: Site,
        begin_s: float,
        *,
        calibration: Calibration,
        faults: frozenset[str],
        incidents: Sequence[Incident],
        streams: dict[str, np.random.Generator],
    ) -> None:
        self._site, self._begin_s, self._faults = site, begin_s, faults
        self._incidents = incidents
        self.ids, self.origins = Ids(), Origins()
        self.jobs: list[Job] = []
        self.incident_jobs: dict[int, Job] = {}
        self._workload = Workload(site, begin_s, streams["jobs"])
        self._population = Population(site, faults, self.ids, self.origins, streams["people"])
        self._rng = streams["hostile"]
        self.clients = self._population.clients
        self.tuning = Tuning(site, calibration)

    def day(self, index: int, carried: Batch) -> Batch:
        """Return the sources that day `index` adds; `carried` are those that are still on."""
        begin_s = self._begin_s + index * DAY_S
        people = self._population
        jobs = self._workload.day(index)
        self.jobs += jobs
        compute = {"jobs": people.jobs(jobs), "job_control": people.job_control(jobs)}
        batches = list(compute.values())
        if index == 0:
            compute["system"] = people.system()
            batches = [*compute.values(), *self._without_jobs(begin_s)]
        for name, batch in compute.items():
            self.tuning.present(name, batch, begin_s)
        self.tuning.strength("compute", list(compute.values()), carried, begin_s)
        if index == 0 and "hostile" in self._faults:
            batches.append(self._hostile())
        for incident in self._incidents:
            last_s = begin_s + DAY_S
            if (begin_s <= incident.start_s or index == 0) and incident.start_s < last_s:
                batches.append(self._incident(incident))
        return {kind: joined([batch[kind] for batch in batches]) for kind in KINDS}

    def _without_jobs(self, begin_s: float) -> list[Batch]:
        people, weight = self._population, self._workload.user_weight
        classes = {
            "login": people.login(weight),
            "system_login": people.system_login(),
            "utility": people.utility(weight),
            "system_utility": people.system_utility(),
        }
        for name, batch in classes.items():
            self.tuning.present(name, batch, begin_s)
        nothing = {kind: make(0, target=0, entry_id=0, origin=0, archetype=0) for kind in KINDS}
        for part, first in (("login", 0), ("utility", 2)):
            mine = list(classes.values())[first : first + 2]
            self.tuning.strength(part, mine, nothing, begin_s)
        unattributed = people.unattributed()
        self.tuning.unattributed(unattributed)
        return [*classes.values(), unattributed]

    def _hostile(self) -> Batch:
        """Return people who chose their ids with care; each works a little on three targets."""
        host = self._site.login[0].name
        user = self._site.users[int(self._rng.integers(len(self._site.users)))]
        raw = hostile_ids(user.uid, host, 4711)
        origin = self.origins.add([Origin(None, str(user.uid), host, "hostile")])
        entry_id = self.ids.numbers(raw)
        touches = 1.0 / self._rng.uniform(100.0, 600.0, len(raw))
        batch: Batch = {}
        for kind in KINDS:
            rows = np.repeat(np.arange(len(raw)), 1 if kind == "mdt" else 2)
            batch[kind] = make(
                len(rows),
                target=self._rng.integers(len(self._site.targets(kind)), size=len(rows)),
                entry_id=entry_id[rows],
                origin=origin[0],
                node=len(self._site.compute),
                archetype=index_of("many_small_files"),
                factors=self._plain_row(kind),
                weight=0.05,
                touch=touches[rows],
                steady=True,
            )
        return batch

    def _plain_row(self, kind: Kind) -> int:
        profile = self.tuning.profiles[kind]
        return self.tuning.factors[kind].add(np.ones(profile.rates.shape[1]), np.ones(4))

    def _incident(self, incident: Incident) -> Batch:
        job = job_of(incident, self._site, self._workload.new_id())
        self.jobs.append(job)
        self.incident_jobs[incident.number] = job
        uid = self._site.users[incident.user].uid
        names = [self.clients[node].name for node in incident.nodes]
        origins = self.origins.add(
            Origin(str(job.raw_id), str(uid), name, job.executable) for name in names
        )
        ids = self.ids.numbers(b"%d:%d:%s" % (job.raw_id, uid, name.encode()) for name in names)
        main = incident.archetype.main_kind
        other: Kind = "ost" if main == "mdt" else "mdt"
        batch: Batch = {}
        for kind, targets in ((main, incident.targets), (other, (0,))):
            parts = [
                make(
                    len(names),
                    target=target,
                    entry_id=ids,
                    origin=origins,
                    node=np.array(incident.nodes),
                    archetype=index_of(incident.archetype.name),
                    factors=self.tuning.incident_row(
                        incident.archetype, kind, target, incident.factor
                    ),
                    weight=1.0 / len(names) if kind == main else 0.1,
                    touch=ALWAYS,
                    steady=True,
                    on_s=incident.start_s,
                    off_s=incident.end_s,
                )
                for target in targets
            ]
            batch[kind] = joined(parts)
        return batch


def still_on(sources: Sources, after_s: float) -> Sources:
    """Return the sources that are not over yet."""
    return sources.take(sources.off_s > after_s)
