"""Which incidents are asked for: a period and a few filters, in words, the same everywhere."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, Final

from pfscope.errors import UsageError
from pfscope.times import time_us
from pfscope.watch.alerts.model import SEVERITIES, rank
from pfscope.watch.model import State

Words = Mapping[str, Sequence[str]]
WORDS: Final = {
    "from": "from when: ISO 8601 in UTC, or before the newest observation (default: -1d)",
    "to": "until when (default: now)",
    "severity": f"this severe at least: {', '.join(SEVERITIES)}",
    "state": f"only those that are {', '.join(State)}",
    "filesystem": "only on this file system: a glob",
    "kind": "only of this kind: a glob",
    "user": "only where this user is among the causes: a glob",
}
"""What can be told, and what it means."""
_CHOICES: Final = {"severity": SEVERITIES, "state": tuple(State)}
_USUAL: Final = "-1d"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A period, and what incidents in it must be like."""

    start_us: int
    end_us: int
    filters: Mapping[str, str]

    @staticmethod
    def read(words: Words, now_us: int) -> "Wanted":
        """Read words; what makes no sense is a `UsageError`."""
        told = {name: _one(name, values) for name, values in words.items() if values}
        start_us = time_us(told.pop("from", _USUAL), now_us=now_us)
        end_us = time_us(told.pop("to", "now"), now_us=now_us, end=True)
        if end_us <= start_us:
            raise UsageError("the period ends before it begins: --from must be earlier than --to")
        return Wanted(start_us, end_us, told)

    def fits(self, incident: Mapping[str, Any]) -> bool:
        """Tell whether an incident, as plain JSON, is wanted."""
        fits = all(_fits(incident, *each) for each in self.filters.items())
        return fits and self.during(incident)

    def during(self, incident: Mapping[str, Any]) -> bool:
        """Tell whether it went on in the period."""
        end_us = incident["end_us"]
        return incident["start_us"] < self.end_us and (end_us is None or end_us > self.start_us)

    def about(self) -> dict[str, Any]:
        """Return what an answer is about."""
        return {"from_us": self.start_us, "to_us": self.end_us, **self.filters}


def _one(name: str, values: Sequence[str]) -> str:
    if name not in WORDS:
        near = get_close_matches(name, WORDS, 1)
        raise UsageError(f"{name!r} is not known; {_hint(near)}")
    if len(values) > 1:
        raise UsageError(f"{name} can be told once only")
    choices = _CHOICES.get(name)
    if choices and values[0] not in choices:
        raise UsageError(f"{name} is {values[0]!r}; it can be {', '.join(choices)}")
    return values[0]


def _hint(near: Sequence[str]) -> str:
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(WORDS)}"


def _fits(incident: Mapping[str, Any], name: str, wish: str) -> bool:
    if name == "severity":
        return rank(incident["severity"]) >= rank(wish)
    if name == "user":
        return any(fnmatchcase(user, wish) for user in _users(incident["causes"]))
    return fnmatchcase(incident[name], wish)


def _users(causes: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    return (cause["user"] for cause in causes if cause["user"] is not None)
