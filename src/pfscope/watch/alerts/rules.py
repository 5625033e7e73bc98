"""Rules: which incidents or numbers make an alert, when it fires, whom it tells, whom it mutes.

A rule is plain data. Patterns are globs, and fit when they fit any value of a label.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final

from pfscope.watch.alerts.model import Labels, rank

MINUTE_US: Final = 60_000_000
HOUR_US: Final = 60 * MINUTE_US
FILTERS: Final = ("filesystem", "kind", "target", "operation", "user")
"""Labels of incidents that a rule can choose by."""


@dataclass(frozen=True, slots=True)
class OnIncidents:
    """Fulfilled by incidents that are going on."""

    severity: str = "info"
    """This severe at least."""
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Patterns by label."""

    def fits(self, labels: Labels) -> bool:
        """Tell whether an incident with these labels is meant."""
        severe = rank(labels["severity"][0]) >= rank(self.severity)
        return severe and all(fits(labels, key, globs) for key, globs in self.where.items())


@dataclass(frozen=True, slots=True)
class Threshold:
    """Fulfilled by rows of an answer in which a column lies beyond a bound."""

    query: str
    """As on the command line: `top --by user --from -10m`."""
    question: str
    words: Mapping[str, tuple[str, ...]]
    by: tuple[str, ...]
    """The columns that say of what a row is."""
    column: str
    above: float | None = None
    below: float | None = None
    every_us: int = MINUTE_US
    """How often it is asked."""
    stale_us: int = 10 * MINUTE_US
    """Data that is older than this is missing."""

    def is_beyond(self, value: float) -> bool:
        """Tell whether a value fulfils the condition."""
        high = self.above is not None and value > self.above
        return high or (self.below is not None and value < self.below)


@dataclass(frozen=True, slots=True)
class Flapping:
    """When an alert goes to and fro: then it ends only after a window without any change."""

    changes: int = 6
    window_us: int = HOUR_US


@dataclass(frozen=True, slots=True)
class Inhibition:
    """Which alerts are muted while one of a rule fires."""

    rules: tuple[str, ...]
    """Globs of their rules' names."""
    equal: tuple[str, ...] = ("filesystem",)
    """They have a value in common for each of these labels."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One `[alert.NAME]` of the configuration."""

    name: str
    on: OnIncidents | Threshold
    notify: tuple[str, ...] = ()
    for_us: int = 0
    """It fires when the condition has held for this long."""
    keep_firing_for_us: int = 5 * MINUTE_US
    """It resolves when the condition has not held for this long."""
    group_by: tuple[str, ...] = ("rule", "filesystem")
    """Alerts for the same receivers that agree on these labels are told in one notification."""
    repeat_us: int | None = 4 * HOUR_US
    update_us: int = 5 * MINUTE_US
    """A group tells of alerts that join it no more often than this, unless they are worse."""
    labels: Mapping[str, str] = field(default_factory=dict)
    flapping: Flapping = field(default_factory=Flapping)
    inhibits: Inhibition | None = None

    def mutes(self, other: str) -> bool:
        """Tell whether alerts of this rule can mute those of another."""
        if self.inhibits is None or other == self.name:
            return False
        return any(fnmatchcase(other, glob) for glob in self.inhibits.rules)


def fits(labels: Labels, key: str, globs: Sequence[str]) -> bool:
    """Tell whether any value of a label fits any of the globs; what has no value fits none."""
    return any(fnmatchcase(value, glob) for value in labels.get(key, ()) for glob in globs)


def circle(rules: Sequence[Rule]) -> list[str]:
    """Return the names of rules that mute each other in a circle; empty: there is none."""
    muted = {rule.name: [o.name for o in rules if rule.mutes(o.name)] for rule in rules}
    sound: set[str] = set()

    def walk(name: str, path: list[str]) -> list[str]:
        if name in path:
            return path[path.index(name) :]
        if name in sound:
            return []
        found = next((c for o in muted[name] if (c := walk(o, [*path, name]))), [])
        if not found:
            sound.add(name)
        return found

    return next((found for name in muted if (found := walk(name, []))), [])
