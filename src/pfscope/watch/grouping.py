"""Which changes are one: those of a file system that began together, or have the same cause.

Only increases make incidents; a signal that falls tells how others fared, and is no cause of alarm.
How good the data is has no culprit: ids that are damaged make incidents of their own.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pfscope.watch.model import Change, Direction
from pfscope.watch.signals import MALFORMED, METRICS

TOGETHER_US: Final = 600 * 10**6
"""Signals of one cause cross their bands at somewhat different times."""


@dataclass(frozen=True, slots=True)
class Group:
    """Changes of signals of one file system that began at about the same time."""

    changes: tuple[Change, ...]

    @property
    def lead(self) -> Change:
        """The change that stands for all: of a metric and a target where there is one."""
        return max(self.changes, key=_weight)

    @property
    def filesystem(self) -> str:
        """Where it is."""
        return self.lead.signal.filesystem

    @property
    def of_data(self) -> bool:
        """Tell whether it is about the data, not about what was done."""
        return self.lead.signal.measure == MALFORMED

    @property
    def start_us(self) -> int:
        """When the first of them began."""
        return min(change.start_us for change in self.changes)

    @property
    def end_us(self) -> int | None:
        """When the last of them ended; None: one goes on."""
        ends = [change.end_us for change in self.changes]
        return None if None in ends else max(end for end in ends if end is not None)

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets that show it, the most affected first."""
        of_targets = [c for c in self.changes if c.signal.scope == "target"]
        return _names(sorted(of_targets, key=_weight, reverse=True), "name")

    @property
    def operations(self) -> tuple[str, ...]:
        """The operations that show it, those of the lead's unit first, by how much they rose."""
        unit = self.lead.signal.unit
        found = [c for c in self.changes if c.signal.measure not in METRICS] or [self.lead]
        order = sorted(found, key=lambda c: (c.signal.unit == unit, c.peak - c.baseline))
        return _names(reversed(order), "measure")

    def overlaps(self, other: "Group") -> bool:
        """Tell whether both went on at one time."""
        ends = [end for end in (self.end_us, other.end_us) if end is not None]
        return max(self.start_us, other.start_us) <= min(ends, default=self.start_us)

    def joined(self, other: "Group") -> "Group":
        """Return both as one."""
        return Group((*self.changes, *other.changes))


def group(changes: Iterable[Change]) -> list[Group]:
    """Return increases by file system and time of their start, in order of time."""
    groups: list[list[Change]] = []
    latest: dict[tuple[str, bool], int] = {}
    for change in sorted(changes, key=lambda c: (c.start_us, c.signal)):
        if change.direction != Direction.UP:
            continue
        place = change.signal.filesystem, change.signal.measure == MALFORMED
        at = latest.get(place)
        if at is None or change.start_us - groups[at][0].start_us > TOGETHER_US:
            at = latest[place] = len(groups)
            groups.append([])
        groups[at].append(change)
    return [Group(tuple(found)) for found in groups]


def _weight(change: Change) -> tuple[bool, bool, float]:
    """Return how well a change stands for others."""
    usual = max(change.baseline, 0.01 * change.peak, 1e-9)
    of_target = change.signal.scope == "target"
    return of_target, change.signal.measure in METRICS, change.peak / usual


def _names(changes: Iterable[Change], field: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(getattr(change.signal, field) for change in changes))
