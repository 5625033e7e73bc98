"""The words of alerts: what was observed, how far an alert has come, what people are told.

All are frozen, and each turns into plain JSON and back without loss.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

Labels = Mapping[str, tuple[str, ...]]
"""What an alert is about, by name; some have several values, such as targets."""
SEVERITIES: Final = ("info", "warning", "critical")


class Seen(StrEnum):
    """How the condition of a rule looked."""

    ACTIVE = "active"
    QUIET = "quiet"
    MISSING = "missing"
    """There was no data: nobody knows."""


class Phase(StrEnum):
    """How far an alert has come."""

    PENDING = "pending"
    FIRING = "firing"
    MISSING = "missing"
    """It fired, and since then there is no data: neither firing nor resolved."""
    RESOLVED = "resolved"


class Kind(StrEnum):
    """Why people are told."""

    FIRING = "firing"
    UPDATE = "update"
    """Further alerts joined, or one became more severe."""
    REPEAT = "repeat"
    RESOLVED = "resolved"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class Observation:
    """How the condition of a rule looked for one thing; for all others where `instance` is None."""

    rule: str
    instance: str | None
    seen: Seen
    labels: Labels = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Plain JSON: what the text tells."""


@dataclass(frozen=True, slots=True)
class Alert:
    """One thing that fulfils a rule, from when it was first seen to some time after its end."""

    rule: str
    instance: str
    phase: Phase
    seen: Seen
    since_us: int
    """When this time began."""
    labels: Labels
    facts: Mapping[str, Any]
    known: Seen
    """How it looked when there was data last."""
    held_us: int = 0
    """For how long it has looked like this, times without data left out."""
    missing_us: int = 0
    """For how long there is no data."""
    fired_us: int | None = None
    ended_us: int | None = None
    changes: tuple[int, ...] = ()
    """When it went to and fro, as far back as flapping is looked for."""
    group: str = ""
    """With which others it is told, fixed when it fires."""
    flapping: bool = False
    fixed: Labels = field(default_factory=dict)
    """Its labels as they were when it fired."""

    @property
    def id(self) -> str:
        """The same in every notification on it."""
        return digest(self.rule, self.instance, str(self.since_us))

    @property
    def severity(self) -> str:
        """How much it matters."""
        return self.labels.get("severity", ("warning",))[0]

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return plain | {"labels": listed(self.labels), "fixed": listed(self.fixed)}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Alert":
        """Undo `as_json`."""
        return cls(**{
            **plain,
            "phase": Phase(plain["phase"]),
            "seen": Seen(plain["seen"]),
            "known": Seen(plain["known"]),
            "labels": labels_from(plain["labels"]),
            "fixed": labels_from(plain["fixed"]),
            "changes": tuple(plain["changes"]),
        })  # fmt: skip


@dataclass(frozen=True, slots=True)
class Notification:
    """What one group of alerts is worth telling at one time."""

    key: str
    """The same however often it is sent: receivers know a repeat by it."""
    group: str
    """The same from the first to the last notification of a group."""
    kind: Kind
    time_us: int
    notify: tuple[str, ...]
    labels: Labels
    """What all its alerts have in common."""
    alerts: tuple[Alert, ...]

    @property
    def severity(self) -> str:
        """The highest of its alerts'."""
        return max((alert.severity for alert in self.alerts), key=rank, default="info")

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return plain | {
            "labels": listed(self.labels),
            "notify": list(self.notify),
            "alerts": [alert.as_json() for alert in self.alerts],
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Notification":
        """Undo `as_json`."""
        return cls(**{
            **plain,
            "kind": Kind(plain["kind"]),
            "labels": labels_from(plain["labels"]),
            "notify": tuple(plain["notify"]),
            "alerts": tuple(map(Alert.from_json, plain["alerts"])),
        })  # fmt: skip


def listed(labels: Labels) -> dict[str, list[str]]:
    """Return labels as plain JSON."""
    return {name: list(values) for name, values in labels.items()}


def labels_from(plain: Mapping[str, Any]) -> Labels:
    """Undo `listed`."""
    return {name: tuple(values) for name, values in plain.items()}


def digest(*parts: str) -> str:
    """Return a short name for some texts, always the same and never that of others."""
    hashed = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        hashed.update(len(raw).to_bytes(8) + raw)
    return hashed.hexdigest()[:24]


def rank(severity: str) -> int:
    """Return how severe a severity is; one that a site made up counts as a warning."""
    return SEVERITIES.index(severity) if severity in SEVERITIES else 1
