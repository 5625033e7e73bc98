"""Incidents that were asked for: who loads what, from when to when, and by how much.

An incident is a job of one archetype whose main operations run at `factor` times the normal total
of each target that it names, on top of what is normal. It stands in Slurm's text like any job.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from pfscope.errors import InputError
from pfscope.lab.archetypes import ARCHETYPES, BY_PEOPLE, Archetype
from pfscope.lab.site import FILE_SYSTEM, Site
from pfscope.lab.workload import Job

_KEYS = {"kind", "start", "duration_s", "targets", "user", "nodes", "factor", "executable"}
_VALUES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "start": ("seconds or an ISO 8601 time", lambda v: isinstance(v, int | float | str)),
    "duration_s": ("a number above zero", lambda v: isinstance(v, int | float) and v > 0),
    "factor": ("a number above zero", lambda v: isinstance(v, int | float) and v > 0),
    "targets": ("a list of names", lambda v: isinstance(v, tuple) and bool(v)),
    "nodes": ("a list of names, or how many", lambda v: bool(v) and isinstance(v, tuple | int)),
    "user": ("a user id", lambda v: isinstance(v, int | str)),
    "executable": ("a name", lambda v: isinstance(v, str)),
}
_SHORT = {
    "checkpoint": "periodic_checkpoint", "small_files": "many_small_files",
    "temporary": "temporary_files", "python_import": "python_import_storm",
    "metadata": "metadata_storm", "streaming": "streaming_read",
    "random_reads": "random_small_reads",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Request:
    """One incident as it was asked for; what is None is chosen by the laboratory."""

    kind: str
    start: float | str = 600.0
    """Seconds after the run's start, or an ISO 8601 time."""
    duration_s: float = 900.0
    factor: float = 10.0
    targets: tuple[str, ...] | None = None
    user: int | str | None = None
    nodes: tuple[str, ...] | int | None = None
    executable: str | None = None


@dataclass(frozen=True, slots=True)
class Incident:
    """One incident as it happens."""

    number: int
    archetype: Archetype
    start_s: float
    end_s: float
    factor: float
    targets: tuple[int, ...]
    """Indices within the kind of target that the archetype loads."""
    user: int
    nodes: tuple[int, ...]
    executable: str


def read(path: Path) -> tuple[Request, ...]:
    """Read a JSON list of incidents."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read incidents from {path}: {error}") from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{path} must hold a JSON list of objects")
    return tuple(_request(row, f"{path}, incident {n}") for n, row in enumerate(rows, 1))


def _request(row: dict[str, Any], where: str) -> Request:
    unknown = sorted(set(row) - _KEYS)
    if unknown:
        raise InputError(f"{where}: unknown key {unknown[0]!r}; use {', '.join(sorted(_KEYS))}")
    kind = str(row.get("kind", "")).replace("-", "_")
    if _SHORT.get(kind, kind) not in {a.name for a in BY_PEOPLE}:
        names = ", ".join(a.name for a in BY_PEOPLE)
        raise InputError(f"{where}: no kind {row.get('kind')!r}; use one of {names}")
    values: dict[str, Any] = {**row, "kind": _SHORT.get(kind, kind)}
    for name in ("targets", "nodes"):
        if isinstance(values.get(name), list):
            values[name] = tuple(str(value) for value in values[name])
    for name, (what, good) in _VALUES.items():
        if values.get(name) is not None and not good(values[name]):
            raise InputError(f"{where}: {name} must be {what}")
    return Request(**values)


def place(
    requests: Sequence[Request], site: Site, start_s: float, rng: np.random.Generator
) -> list[Incident]:
    """Decide what the requests leave open."""
    return [_place(number, r, site, start_s, rng) for number, r in enumerate(requests)]


def _place(
    number: int, request: Request, site: Site, start_s: float, rng: np.random.Generator
) -> Incident:
    archetype = ARCHETYPES[request.kind]
    begin = _moment(request.start, start_s)
    names = site.targets(archetype.main_kind)
    drawn = int(rng.integers(len(names)))
    if request.targets is not None:
        targets = tuple(_index(name, names, "target") for name in request.targets)
    elif archetype.main_kind == "mdt":
        targets = (0,)
    else:
        targets = (drawn,) if archetype.osts == 1 else tuple(range(len(names)))
    user = int(rng.integers(len(site.users)))
    if request.user is not None:
        user = _index(str(request.user), [str(u.uid) for u in site.users], "user")
    return Incident(
        number,
        archetype,
        begin,
        begin + request.duration_s,
        request.factor,
        targets,
        user,
        _nodes(request.nodes, site, rng),
        request.executable or archetype.executables[0],
    )


def _moment(start: float | str, origin_s: float) -> float:
    if isinstance(start, int | float):
        return origin_s + start
    try:
        moment = datetime.fromisoformat(start)
    except ValueError as error:
        raise InputError(f"an incident's start is not a time: {start!r}") from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _nodes(
    wanted: tuple[str, ...] | int | None, site: Site, rng: np.random.Generator
) -> tuple[int, ...]:
    names = [node.name for node in site.compute]
    if isinstance(wanted, tuple):
        return tuple(_index(name, names, "node") for name in wanted)
    count = min(wanted or 4, len(names))
    first = int(rng.integers(len(names) - count + 1))
    return tuple(range(first, first + count))


def _index(name: str, names: Sequence[str], what: str) -> int:
    for index, known in enumerate(names):
        if name in (known, known.partition("-")[2]):
            return index
    raise InputError(f"an incident names {what} {name!r}, which this site does not have")


def job_of(incident: Incident, site: Site, raw_id: int) -> Job:
    """Return the job that causes an incident."""
    return Job(
        raw_id=raw_id,
        array_id=None,
        array_task=None,
        user=incident.user,
        archetype=incident.archetype,
        executable=incident.executable,
        name=incident.executable,
        partition="gpu" if site.compute[incident.nodes[0]].node_type == "GPU" else "large",
        nodes=incident.nodes,
        submit_s=incident.start_s - 60.0,
        start_s=incident.start_s,
        end_s=incident.end_s,
        limit_s=max(3600.0, 2 * (incident.end_s - incident.start_s)),
        state="COMPLETED",
        cores_per_node=40,
        weight=1.0,
        incident=incident.number,
    )


def told(incident: Incident, job: Job, site: Site) -> dict[str, Any]:
    """Return an incident as `truth/incidents.json` tells it."""
    names = site.targets(incident.archetype.main_kind)
    return {
        "id": incident.number,
        "kind": incident.archetype.name,
        "start": iso(incident.start_s),
        "end": iso(incident.end_s),
        "user": str(site.users[incident.user].uid),
        "job": str(job.raw_id),
        "nodes": [site.compute[node].name for node in incident.nodes],
        "executable": incident.executable,
        "filesystem": FILE_SYSTEM,
        "targets": [names[target] for target in incident.targets],
        "operations": list(incident.archetype.main),
        "factor": incident.factor,
    }


def iso(time_s: float) -> str:
    """Return a time as ISO 8601 in UTC, whole seconds."""
    return datetime.fromtimestamp(round(time_s), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
