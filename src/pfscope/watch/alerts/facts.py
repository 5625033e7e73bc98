"""An incident as an alert's labels and as the plain facts that its text tells.

Names of users, jobs and programs are as their owners wrote them: each medium escapes them.
"""

from collections.abc import Iterable
from typing import Final

from pfscope.watch.alerts.model import Labels, Observation, Seen
from pfscope.watch.alerts.rules import OnIncidents, Rule
from pfscope.watch.model import Cause, Incident, State
from pfscope.watch.written import WHO, plain

_SEEN: Final = {
    State.ONGOING: Seen.ACTIVE,
    State.ENDED: Seen.QUIET,
    State.SETTLED: Seen.QUIET,
    State.UNKNOWN: Seen.MISSING,
}


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
    return Observation(rule.name, incident.id, seen, labels, {"incident": plain(incident)})


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
    values = ((key, getattr(cause, key)) for key in WHO)
    return {key: (value,) for key, value in values if value is not None}
