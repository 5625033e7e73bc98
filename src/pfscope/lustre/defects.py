"""What could not be read: every defect is counted by its reason, the first ones also by offset."""

from collections import Counter
from collections.abc import Iterable

from pfscope.model import Defect

KEPT = 1000
"""Offsets kept for people; the counts go on, so that rubbish of any size takes bounded memory."""


class Defects:
    """A count for each reason, and the first defects with their offsets."""

    __slots__ = ("counts", "first")

    def __init__(self, defects: Iterable[Defect] = ()) -> None:
        self.counts: Counter[str] = Counter()
        self.first: list[Defect] = []
        for defect in defects:
            self.add(defect.offset, defect.reason)

    def add(self, offset: int, reason: str) -> None:
        """Count one defect."""
        self.counts[reason] += 1
        if len(self.first) < KEPT:
            self.first.append(Defect(offset, reason))

    def extend(self, other: "Defects") -> None:
        """Count all that another collection counted."""
        self.counts.update(other.counts)
        self.first.extend(other.first[: KEPT - len(self.first)])

    def moved(self, distance: int) -> "Defects":
        """Return the same defects in the order of the text, every offset moved."""
        moved = Defects()
        moved.counts = self.counts
        ordered = sorted(self.first, key=lambda d: d.offset)
        moved.first = [Defect(d.offset + distance, d.reason) for d in ordered]
        return moved

    def __len__(self) -> int:
        return sum(self.counts.values())

    def __repr__(self) -> str:
        return f"Defects({dict(self.counts)!r})"
