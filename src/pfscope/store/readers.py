"""Lets files that no longer belong to the store live as long as a query may still read them."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Readers:
    """Counts who reads, and does what must wait for those who already read when it was asked."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._next = 0
        self._reading: set[int] = set()
        self._waiting: list[tuple[int, Callable[[], None]]] = []

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold back what is asked for from now on."""
        with self._guard:
            number = self._next
            self._next += 1
            self._reading.add(number)
        try:
            yield
        finally:
            with self._guard:
                self._reading.discard(number)
            self._settle()

    def afterwards(self, action: Callable[[], None]) -> None:
        """Do it when all who read now have finished."""
        with self._guard:
            self._waiting.append((self._next, action))
        self._settle()

    def _settle(self) -> None:
        with self._guard:
            oldest = min(self._reading, default=self._next)
            due = [action for asked, action in self._waiting if asked <= oldest]
            self._waiting = [item for item in self._waiting if item[0] > oldest]
        for action in due:
            action()
