"""Stories for a simulated site whose right answer is known: who, what, when, or nobody at all.

A scenario turns a preset and a seed into options of a cluster and into what a watch should say of
it. Troubles come no earlier than four hours after the beginning, so that there is a past to know.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final

import numpy as np

from pfscope.errors import UsageError
from pfscope.lab.archetypes import ARCHETYPES
from pfscope.lab.calibration import BUILT_IN, Calibration
from pfscope.lab.cluster import Cluster, Options
from pfscope.lab.faults import IDENTITY_FAULTS, Event
from pfscope.lab.incidents import Request, iso
from pfscope.lab.site import Site

INTERVAL_S: Final = 120.0
FIRST_S: Final = 26 * 3600.0
_FAULT_S: Final = 4 * 3600.0
_APART_S: Final = 5400.0
_HOURS: Final = 31.0
_FAULT_HOURS: Final = 7.0
_LEAST: Final = 5.0
"""From here on an increase must be found."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that a watch should find, with who causes it."""

    kind: str
    user: str
    start_s: float
    """Seconds after the beginning of the run; so are the others."""
    due_s: float
    """From here on it is as large as it must be to be found."""
    end_s: float
    targets: tuple[str, ...]
    """Where it is; empty: on all targets of its kind."""
    single_job: bool = True


@dataclass(frozen=True, slots=True)
class Story:
    """One scenario on one site."""

    options: Options
    hours: float
    troubles: tuple[Trouble, ...] = ()
    """None: nobody should be paged, and nobody blamed."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A kind of story."""

    name: str
    summary: str
    expected: str
    hours: float
    tell: Callable[["_Draft"], None]
    """Adds what happens to a draft."""


@dataclass(slots=True)
class _Draft:
    """A story while it is written."""

    site: Site
    rng: np.random.Generator
    hours: float
    requests: list[Request] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    calibration: Calibration = BUILT_IN

    def user(self) -> str:
        """Return somebody."""
        return str(self.site.users[int(self.rng.integers(len(self.site.users)))].uid)

    def nodes(self, part: float) -> int:
        """Return a number of nodes that is a part of all, no fewer than two."""
        return max(2, round(part * len(self.site.compute)))

    def starts(self) -> list[float]:
        """Return when three troubles begin, far enough apart to be told from each other."""
        return [FIRST_S + n * _APART_S + float(self.rng.uniform(0, 900)) for n in range(3)]

    def observation(self, time_s: float) -> int:
        """Return the number of the observation at or before a time."""
        return int(time_s / INTERVAL_S)


def find_scenario(name: str) -> Scenario:
    """Return a scenario by its name; UsageError: there is none."""
    if name not in SCENARIOS:
        raise UsageError(f"no scenario {name!r}: use one of {', '.join(SCENARIOS)}")
    return SCENARIOS[name]


def story(name: str, preset: str, seed: int, hours: float | None = None) -> Story:
    """Return a scenario as it happens on the site of a preset and a seed."""
    scenario = find_scenario(name)
    plain = Options(preset=preset, seed=seed)
    rng = np.random.default_rng([seed, *name.encode()])
    draft = _Draft(Cluster(plain).site, rng, hours or scenario.hours)
    scenario.tell(draft)
    options = replace(
        plain, incidents=tuple(draft.requests), events=tuple(draft.events),
        faults=IDENTITY_FAULTS, calibration=draft.calibration,
    )  # fmt: skip
    return Story(options, draft.hours, tuple(t for t in draft.troubles if t.end_s <= _end(draft)))


def write_truth(path: Path, name: str, told: Story, start: datetime) -> None:
    """Write what a watch should say of a story; no troubles: it should page nobody."""
    start_s = start.timestamp()
    troubles = [
        {
            "kind": trouble.kind, "user": trouble.user, "single_job": trouble.single_job,
            "start": iso(start_s + trouble.start_s), "due": iso(start_s + trouble.due_s),
            "end": iso(start_s + trouble.end_s), "targets": list(trouble.targets),
        }
        for trouble in told.troubles
    ]  # fmt: skip
    truth = {"scenario": name, "expected": SCENARIOS[name].expected, "troubles": troubles}
    path.write_text(json.dumps(truth, indent=1) + "\n", encoding="ascii")


def _end(draft: _Draft) -> float:
    return draft.hours * 3600


def _jobs(kind: str, *, factors: tuple[float, float], part: float) -> Callable[[_Draft], None]:
    """Return a teller of three jobs of one archetype, each of another user."""

    def tell(draft: _Draft) -> None:
        archetype = ARCHETYPES[kind]
        places = draft.site.targets(archetype.main_kind)
        for start_s in draft.starts():
            user, length_s = draft.user(), float(draft.rng.uniform(1500, 2700))
            targets: tuple[str, ...] | None = None
            if archetype.osts == 1:
                targets = (places[int(draft.rng.integers(len(places)))],)
            elif archetype.main_kind == "mdt":
                targets = (places[0],)
            factor = float(np.exp(draft.rng.uniform(*np.log(factors))))
            nodes = draft.nodes(part)
            draft.requests.append(
                Request(kind, start_s, length_s, factor, targets, user, nodes)
            )  # fmt: skip
            draft.troubles.append(
                Trouble(kind, user, start_s, start_s, start_s + length_s, targets or ())
            )

    return tell


def _checkpoint(draft: _Draft) -> None:
    for start_s in draft.starts():
        factor = float(draft.rng.uniform(5, 15))
        draft.requests.append(
            Request("periodic_checkpoint", start_s, 900.0, factor, None, draft.user(),
                    draft.nodes(0.2))
        )  # fmt: skip


def _slow_ramp(draft: _Draft) -> None:
    """One user's jobs become more and more, one every twelve minutes, all together a flood."""
    user, target, count = draft.user(), draft.site.mdts[0], 10
    starts = [FIRST_S + n * 720.0 for n in range(count)]
    end_s = starts[-1] + 2700
    for start_s in starts:
        draft.requests.append(
            Request("metadata_storm", start_s, end_s - start_s, 1.0, (target,), user, 1)
        )
    due_s = starts[int(_LEAST) - 1]
    draft.troubles.append(
        Trouble("metadata_storm", user, starts[0], due_s, end_s, (target,), single_job=False)
    )


def _small_jobs(draft: _Draft) -> None:
    """Jobs of one user, each of them small, that begin within a few minutes."""
    for first_s in draft.starts():
        user, target, count = draft.user(), draft.site.mdts[0], 24
        whole = float(draft.rng.uniform(6, 15))
        for start_s in first_s + np.sort(draft.rng.uniform(0, 90, count)):
            draft.requests.append(
                Request("many_small_files", float(start_s), 1800.0, whole / count, (target,), user,
                        1)
            )  # fmt: skip
        draft.troubles.append(
            Trouble("many_small_files", user, first_s, first_s + 90, first_s + 1800, (target,),
                    single_job=False)
        )  # fmt: skip


def _failover(draft: _Draft) -> None:
    osts = [n for n, server in enumerate(draft.site.servers) if server.kind == "ost"]
    one, other = osts[0], osts[1 % len(osts)]
    target = draft.site.servers[one].targets[0]
    away = draft.observation(_FAULT_S)
    draft.events.append(Event("failover", away, one, target, other))
    draft.events.append(Event("failover", away + 30, other, target, one))


def _reset_storm(draft: _Draft) -> None:
    """Every server restarts, one after the other, and once more an hour later."""
    for again in (0, 30):
        for n in range(len(draft.site.servers)):
            at = draft.observation(_FAULT_S) + again + n
            draft.events.append(Event("reboot", at, n, amount=180.0))


def _outage(draft: _Draft) -> None:
    """No agent says anything for forty minutes; later one of them is silent for twenty."""
    at = draft.observation(_FAULT_S)
    for n in range(len(draft.site.servers)):
        draft.events.append(Event("agent-outage", at, n, amount=20))
    draft.events.append(Event("agent-outage", at + 50, 0, amount=10))


def _malformed(draft: _Draft) -> None:
    for n in range(2):
        at = draft.observation(_FAULT_S) + 40 * n
        draft.events.append(Event("mangled", at, 0, amount=1800.0))


def _rhythm(draft: _Draft) -> None:
    """Days that are far busier than nights."""
    hours = {kind: tuple(h**1.7 for h in each) for kind, each in BUILT_IN.hours.items()}
    draft.calibration = replace(BUILT_IN, hours=hours)


def _quiet(_draft: _Draft) -> None:
    """Nothing but what people do every day."""


_HARD = (_LEAST, 20.0)
_WHO = "the user and the job"
_NOBODY = "no page, nobody blamed"
_ALL: Final[Sequence[Scenario]] = (
    Scenario("metadata-storm", "a job opens and closes files again and again", _WHO, _HOURS,
             _jobs("metadata_storm", factors=_HARD, part=0.01)),
    Scenario("hot-ost", "all processes of a job read one file on one OST", _WHO, _HOURS,
             _jobs("hot_file", factors=_HARD, part=0.02)),
    Scenario("slow-ramp", "a user's jobs become more and more for two hours", "the user",
             _HOURS, _slow_ramp),
    Scenario("many-small-jobs", "many small jobs of one user start together", "the user",
             _HOURS, _small_jobs),
    Scenario("python-import-storm", "many processes import the same modules at once", _WHO,
             _HOURS, _jobs("python_import_storm", factors=_HARD, part=0.1)),
    Scenario("temporary-files", "a job makes files and removes them soon after", _WHO, _HOURS,
             _jobs("temporary_files", factors=(15.0, 60.0), part=0.01)),
    Scenario("checkpoint", "large jobs write checkpoints as they should", _NOBODY, _HOURS,
             _checkpoint),
    Scenario("failover", "an OST moves to another server and back", _NOBODY, _FAULT_HOURS,
             _failover),
    Scenario("reset-storm", "all servers restart one after the other, twice", _NOBODY, _FAULT_HOURS,
             _reset_storm),
    Scenario("agent-outage", "no agent sends anything for forty minutes", _NOBODY, _FAULT_HOURS,
             _outage),
    Scenario("malformed-burst", "many ids are cut or overwritten for half an hour, twice", _NOBODY,
             _FAULT_HOURS, _malformed),
    Scenario("daily-rhythm", "days that are far busier than nights", _NOBODY, 96.0, _rhythm),
    Scenario("quiet", "nothing but what people do every day", _NOBODY, 30 * 24.0, _quiet),
)  # fmt: skip
SCENARIOS: Final[dict[str, Scenario]] = {scenario.name: scenario for scenario in _ALL}
