"""What a log could not be understood in: records left out, and values left empty, with reasons."""

from collections import Counter
from typing import Final, NamedTuple

KEPT: Final = 100
"""Places kept for people; the counts go on, so that rubbish of any size takes bounded memory."""


class Place(NamedTuple):
    """Where a record that was left out stands."""

    line: int
    """From 1; of JSON, which of the jobs it is."""
    reason: str


class Defects:
    """Counts of what was not understood, and where the first of it stands."""

    __slots__ = ("first", "rejected", "unread")

    def __init__(self) -> None:
        self.rejected: Counter[str] = Counter()
        """Records that were left out, by reason."""
        self.unread: Counter[str] = Counter()
        """Values that are null because they made no sense, by column."""
        self.first: list[Place] = []

    def reject(self, line: int, reason: str) -> None:
        """Count one record that was left out."""
        self.rejected[reason] += 1
        if len(self.first) < KEPT:
            self.first.append(Place(line, reason))

    def extend(self, other: "Defects") -> None:
        """Count all that another collection counted."""
        self.rejected.update(other.rejected)
        self.unread.update(other.unread)
        self.first = sorted([*self.first, *other.first])[:KEPT]

    def taken(self) -> "Defects":
        """Return all that was counted, and begin anew."""
        taken = Defects()
        taken.extend(self)
        self.rejected.clear()
        self.unread.clear()
        self.first.clear()
        return taken

    def __bool__(self) -> bool:
        return bool(self.rejected or self.unread)

    def __repr__(self) -> str:
        return f"Defects(rejected={dict(self.rejected)!r}, unread={dict(self.unread)!r})"
