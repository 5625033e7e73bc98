"""Tells frames that were committed from new ones without asking the database for every new one.

A fingerprint that is not here was never committed; one that is here was, but for a collision of
64 bits, which whoever must be sure rules out by asking the database.
"""

from collections.abc import Iterable
from hashlib import md5

import numpy as np
from numpy.typing import NDArray

FINGERPRINTS = (
    "SELECT md5_number_lower(concat_ws(chr(31), server, epoch, sequence)) AS mark FROM frames"
)
"""The same in SQL, for all frames at once."""
_FRESH_AT_MOST = 65_536


def fingerprint(server: str, epoch: str, sequence: int) -> int:
    """Return 64 bits that stand for a frame."""
    text = "\x1f".join((server, epoch, str(sequence)))
    return int.from_bytes(md5(text.encode(), usedforsecurity=False).digest()[8:], "little")


class FrameIndex:
    """The fingerprints of all frames, in eight bytes each."""

    def __init__(self, marks: NDArray[np.uint64]) -> None:
        self._settled = np.sort(marks)
        self._fresh: set[int] = set()

    def __contains__(self, mark: int) -> bool:
        if mark in self._fresh:
            return True
        at = int(np.searchsorted(self._settled, np.uint64(mark)))
        return at < len(self._settled) and int(self._settled[at]) == mark

    def add(self, marks: Iterable[int]) -> None:
        """Remember further frames."""
        self._fresh.update(marks)
        if len(self._fresh) > _FRESH_AT_MOST:
            fresh = np.fromiter(self._fresh, np.uint64, len(self._fresh))
            self._settled = np.sort(np.concatenate([self._settled, fresh]))
            self._fresh = set()
