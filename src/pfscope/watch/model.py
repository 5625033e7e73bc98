"""The words of the watch: signals, changes, causes, incidents. Frozen; no I/O."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class Signal:
    """A rate, or another number, that is watched over time."""

    filesystem: str
    scope: str
    """What it is of: `filesystem`, `server` or `target`."""
    name: str
    """Which of them: `scratch-MDT0000`."""
    measure: str
    """An operation, a metric, or a number of another kind: `malformed`, `latency`, …"""
    unit: str = "requests"


class Direction(StrEnum):
    """Whither a signal goes."""

    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Change:
    """A signal that left its usual level, and when it came back."""

    signal: Signal
    direction: Direction
    start_us: int
    """When the short average crossed the long one."""
    found_us: int
    """When it was certain."""
    end_us: int | None
    """None: it goes on."""
    baseline: float
    peak: float
    """The highest (or lowest) rate since the start."""
    settled: bool = False
    """It did not come back: the new level has become the usual one."""

    @property
    def ratio(self) -> float:
        """How many times the baseline the peak is."""
        return self.peak / self.baseline if self.baseline > 0 else float("inf")


@dataclass(frozen=True, slots=True)
class Cause:
    """Who is behind an incident; None where a cause is wider than that."""

    user: str | None
    job: str | None
    node: str | None
    executable: str | None
    share: float
    """Of the increase."""
    confidence: float
    """Between 0 and 1."""


class State(StrEnum):
    """How far an incident has come."""

    ONGOING = "ongoing"
    ENDED = "ended"
    SETTLED = "settled"
    """The new level became the usual one."""
    UNKNOWN = "unknown"
    """Nothing was observed since: neither going on nor over."""


class Severity(StrEnum):
    """How much it matters."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do: words for the user, commands for the admin to look at and paste."""

    user: str
    admin: str
    commands: tuple[str, ...] = ()
    link: str = ""


@dataclass(frozen=True, slots=True)
class Incident:
    """One change with its causes, however many signals show it."""

    id: str
    """The same for the same incident, in every run."""
    start_us: int
    end_us: int | None
    state: State
    severity: Severity
    filesystem: str
    targets: tuple[str, ...]
    operations: tuple[str, ...]
    """Those that changed, the largest first."""
    baseline: float
    peak: float
    ratio: float
    causes: tuple[Cause, ...]
    """Strongest first."""
    kind: str
    """The archetype that it looks like, or `unknown`."""
    advice: Advice
    evidence: tuple[tuple[str, Any], ...] = ()
    """What speaks for the kind, what it did to others, and how good the data was."""
