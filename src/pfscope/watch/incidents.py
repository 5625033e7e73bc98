"""From changes to incidents: one for each cause, with who, what kind, how bad, and what to do."""

from collections.abc import Iterable
from hashlib import blake2s
from typing import Final

from pfscope.query.data import Data
from pfscope.times import iso
from pfscope.watch.advice import advice
from pfscope.watch.archetype import MALFORMED_IDS, Evidence, kind_of
from pfscope.watch.culprits import causes, pattern
from pfscope.watch.effects import effects
from pfscope.watch.grouping import Group, group
from pfscope.watch.model import Cause, Change, Incident, State
from pfscope.watch.severity import severity

_MINUTE_US: Final = 60_000_000
_SECOND_US: Final = 1_000_000


def incidents(data: Data, changes: Iterable[Change], until_us: int) -> list[Incident]:
    """Return the incidents behind changes, in order of time; `until_us` is what is known."""
    known = [(found, causes(data, found, until_us)) for found in group(changes)]
    return [_incident(data, *each, until_us) for each in _by_cause(known)]


Caused = tuple[Group, tuple[Cause, ...]]


def _by_cause(known: Iterable[Caused]) -> list[Caused]:
    """Join what went on at one time and has the same main cause."""
    joined: list[Caused] = []
    for found, why in known:
        same = [n for n, each in enumerate(joined) if _same(each, (found, why))]
        if same:
            before, first = joined[same[-1]]
            joined[same[-1]] = before.joined(found), first
        else:
            joined.append((found, why))
    return joined


def _same(one: Caused, other: Caused) -> bool:
    (first, causes_of_first), (second, causes_of_second) = one, other
    mains = [c[0].user if c else None for c in (causes_of_first, causes_of_second)]
    same_cause = mains[0] is not None and mains[0] == mains[1]
    return same_cause and first.filesystem == second.filesystem and first.overlaps(second)


def _incident(data: Data, found: Group, why: tuple[Cause, ...], until_us: int) -> Incident:
    lead = found.lead
    main = why[0] if why else None
    kind, evidence = _kind(data, found, main, until_us)
    return Incident(
        id=_id(found),
        start_us=found.start_us // _SECOND_US * _SECOND_US,
        end_us=found.end_us,
        state=_state(found),
        severity=severity(lead, kind),
        filesystem=found.filesystem,
        targets=found.targets,
        operations=found.operations,
        baseline=lead.baseline,
        peak=lead.peak,
        ratio=lead.ratio,
        causes=why,
        kind=kind,
        advice=advice(kind, why, found.targets, iso(found.start_us // _SECOND_US * _SECOND_US)),
        evidence=(
            *(("sign", sign) for sign in evidence),
            ("measure", lead.signal.measure),
            *effects(data, found, main, until_us),
        ),
    )


def _kind(data: Data, found: Group, main: Cause | None, until_us: int) -> tuple[str, Evidence]:
    if found.of_data:
        return MALFORMED_IDS, (f"{found.lead.peak:.0%} of the entries have ids that make no sense",)
    lead = found.lead.signal
    transferred = lead.unit == "bytes" or "-OST" in lead.name
    return kind_of(pattern(data, found, main, until_us), data=transferred)


def _id(found: Group) -> str:
    """Return a name that is the same whenever this is found again, however it goes on.

    It is that of the change which was found first: others may join, and may have begun earlier.
    """
    found_us = min(change.found_us for change in found.changes)
    moment = iso(found_us // _MINUTE_US * _MINUTE_US)
    about = f"{found.filesystem}/{found_us}" + ("/data" if found.of_data else "")
    mark = blake2s(about.encode(), digest_size=3).hexdigest()
    return f"{moment[:16].replace('-', '').replace(':', '')}-{mark}"


def _state(found: Group) -> State:
    if found.end_us is None:
        return State.ONGOING
    return State.SETTLED if found.lead.settled else State.ENDED
