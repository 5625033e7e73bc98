"""The incidents that go on, and what on the screen is part of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pfscope.top.picture import Names, Server
from pfscope.untrusted import cell_text

LEVELS: Final = {"info": 0, "warning": 1, "critical": 2}
_CAUSES: Final = ("user", "job", "node", "executable")


@dataclass(frozen=True)
class Incident:
    """One of them, as far as a window shows it."""

    name: str
    start: str
    level: int
    kind: str
    filesystem: str
    targets: tuple[str, ...]
    causes: tuple[Mapping[str, Any], ...]
    advice: str

    @property
    def where(self) -> str:
        """Where it is."""
        more = f" +{len(self.targets) - 1}" if len(self.targets) > 1 else ""
        return f"{self.targets[0]}{more}" if self.targets else self.filesystem

    @property
    def who(self) -> str:
        """Who causes it, the strongest cause."""
        for cause in self.causes[:1]:
            named = ", ".join(f"{key} {cause[key]}" for key in _CAUSES if cause.get(key))
            share = cause.get("share")
            if named:
                return f"{named} ({share:.0%})" if isinstance(share, int | float) else named
        return "no single cause"

    def line(self) -> str:
        """Return it in one line."""
        when = self.start[:16].replace("T", " ")
        said = f"{self.kind.replace('_', ' ')} on {self.where}, {self.who}, since {when}"
        return cell_text(said)

    def names(self, by: tuple[str, ...], names: Names) -> bool:
        """Tell whether a row is among its causes, or a place where it is."""
        told = {key: name for key, name in zip(by, names, strict=True) if name is not None}
        first = by[0]
        if first not in told:
            return False
        if first == "filesystem":
            return told[first] == self.filesystem
        if first == "target":
            return told[first] in self.targets
        return any(
            cause.get(first) == told[first]
            and all(cause.get(key) in (None, told.get(key)) for key in _CAUSES if key in told)
            for cause in self.causes
        )


def read(told: Sequence[Any]) -> tuple[Incident, ...]:
    """Read the incidents that go on, the worst first; what is none is passed by."""
    found = []
    for each in told:
        try:
            if each["state"] != "ongoing" and each["end"] is None:
                continue
            found.append(_incident(each))
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
    return tuple(sorted(found, key=lambda incident: (-incident.level, incident.start)))


def level_of(incidents: Sequence[Incident], by: tuple[str, ...], names: Names) -> int:
    """Return how bad the worst incident is that a row is part of; -1: none."""
    return max((i.level for i in incidents if i.names(by, names)), default=-1)


def level_at(incidents: Sequence[Incident], server: Server) -> int:
    """Return how bad the worst incident is on a server."""
    here = set(server.targets)
    return max((i.level for i in incidents if here & set(i.targets)), default=-1)


def _incident(told: Mapping[str, Any]) -> Incident:
    texts = (told["id"], told["start"], told["kind"], told["filesystem"], *told["targets"])
    if not all(isinstance(text, str) for text in texts):
        raise TypeError
    return Incident(
        told["id"], told["start"], LEVELS[told["severity"]], told["kind"], told["filesystem"],
        tuple(told["targets"]), tuple(map(dict, told["causes"])), str(told["advice"]["user"]),
    )  # fmt: skip
