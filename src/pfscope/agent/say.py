"""What the agent tells people (on standard error, seldom) and what it tells in its next frame."""

import re
import sys
import threading
from contextlib import suppress
from typing import Dict, Set

_UNPRINTABLE = re.compile(r"[^ -~]")
_LONGEST = 500


def say(text: str) -> None:
    """Write one line of printable ASCII."""
    # Whoever listened may be gone; that is no reason to stop collecting.
    with suppress(OSError):
        sys.stderr.write("pfscope-agent: %s\n" % _UNPRINTABLE.sub("?", text)[:_LONGEST])
        sys.stderr.flush()


class Sayer:
    """Says each kind of trouble once, until it is over."""

    def __init__(self) -> None:
        self._said: Set[str] = set()

    def once(self, kind: str, text: str) -> None:
        """Say it unless this kind of trouble was told already."""
        if kind not in self._said:
            self._said.add(kind)
            say(text)

    def again(self, kind: str, text: str) -> None:
        """Say that a trouble is over, if it was told; it may be told anew from now on."""
        if kind in self._said:
            self._said.remove(kind)
            say(text)


class Tally:
    """Counts of what the next frame has to tell; they stay until a frame has told them."""

    def __init__(self) -> None:
        self._counts: Dict[str, int] = {}
        self._guard = threading.Lock()

    def add(self, name: str, count: int = 1) -> None:
        """Count something."""
        if count:
            with self._guard:
                self._counts[name] = self._counts.get(name, 0) + count

    def counts(self) -> Dict[str, int]:
        """Return what is to be told."""
        with self._guard:
            return dict(self._counts)

    def told(self, counts: Dict[str, int]) -> None:
        """Take off what a frame has told."""
        with self._guard:
            for name, count in counts.items():
                self._counts[name] -= count
                if not self._counts[name]:
                    del self._counts[name]
