"""An incident as an alert's labels and as the plain facts that its text tells.

Names of users, jobs and programs are as their owners wrote them: each medium escapes them.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pfscope.watch.alerts.model import Labels, Observation, Seen
from pfscope.watch.alerts.rules import OnIncidents, Rule
from pfscope.watch.model import Cause, Incident, State

_SEEN: Final = {
    State.ONGOING: Seen.ACTIVE,
    State.ENDED: Seen.QUIET,
    State.SETTLED: Seen.QUIET,
    State.UNKNOWN: Seen.MISSING,
}
_WHO: Final = ("user", "job", "node", "executable")


def on_incidents(
    rules: Iterable[Rule], incidents: Iterable[Incident], *, whole: bool = False
) -> list[Observation]:
    """Return what incidents mean for rules; `whole`: there are no others that go on."""
    known = list(incidents)
    found: list[Observation] = []
    for rule in rules:
        if isinstance(rule.on, OnIncidents):
            if whole:
                found.append(Observation(rule.name, None, Seen.QUIET))
            found += [_observed(rule, rule.on, incident) for incident in known]
    return found


def _observed(rule: Rule, on: OnIncidents, incident: Incident) -> Observation:
    labels = labels_of(incident, rule)
    # One that no longer is what the rule is about is over as far as the rule is concerned.
    seen = _SEEN[incident.state] if on.fits(labels) else Seen.QUIET
    return Observation(rule.name, incident.id, seen, labels, {"incident": incident_row(incident)})


def labels_of(incident: Incident, rule: Rule) -> Labels:
    """Return by what alerts on an incident are chosen, grouped and silenced.

    Only the strongest cause counts: nobody hides behind a silence for somebody else.
    """
    labels: dict[str, tuple[str, ...]] = {
        "severity": (incident.severity.value,),
        "filesystem": (incident.filesystem,),
        "kind": (incident.kind,),
        "target": incident.targets,
        "operation": incident.operations,
        "incident": (incident.id,),
    }
    if incident.causes:
        labels |= _who(incident.causes[0])
    return labels | {k: (v,) for k, v in rule.labels.items()} | {"rule": (rule.name,)}


def _who(cause: Cause) -> Labels:
    values = ((key, getattr(cause, key)) for key in _WHO)
    return {key: (value,) for key, value in values if value is not None}


def incident_row(incident: Incident) -> dict[str, Any]:
    """Return an incident as plain JSON, by the columns of `pfscope incidents`."""
    return {
        "id": incident.id,
        "start_us": incident.start_us,
        "end_us": incident.end_us,
        "state": incident.state.value,
        "severity": incident.severity.value,
        "filesystem": incident.filesystem,
        "targets": list(incident.targets),
        "operations": list(incident.operations),
        "baseline": _finite(incident.baseline),
        "peak": _finite(incident.peak),
        "ratio": _finite(incident.ratio),
        "causes": [_cause(cause) for cause in incident.causes],
        "kind": incident.kind,
        "advice": {
            "user": incident.advice.user,
            "admin": incident.advice.admin,
            "commands": list(incident.advice.commands),
            "link": incident.advice.link,
        },
        "evidence": {key: _plain(value) for key, value in incident.evidence},
    }


def _cause(cause: Cause) -> Mapping[str, Any]:
    numbers = {"share": _finite(cause.share), "confidence": _finite(cause.confidence)}
    return {key: getattr(cause, key) for key in _WHO} | numbers


def _finite(value: float) -> float | None:
    """Return a number of JSON, which has none that are infinite."""
    number = float(value)
    return number if number - number == 0 else None


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(part) for part in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    return _finite(value) if hasattr(value, "__float__") else str(value)
