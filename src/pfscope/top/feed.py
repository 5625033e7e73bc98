"""Brings pictures from a source, in a thread of its own: live ones as they come, past ones asked.

What is wanted may change at any time; only what is wanted last is told. A server that goes away is
tried again and again, with longer and longer pauses, and each time that is told.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from pfscope.errors import PfscopeError, UsageError
from pfscope.times import iso
from pfscope.top.picture import Picture
from pfscope.top.source import Source
from pfscope.top.view import View

FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 30.0
_MOMENT_US: Final = 10**6


@dataclass(frozen=True)
class Order:
    """What is wanted: a view of now, or of a moment."""

    view: View
    at_us: int | None = None


@dataclass(frozen=True)
class Shown:
    """A picture came."""

    order: Order
    picture: Picture


@dataclass(frozen=True)
class Incidents:
    """The incidents at the moment of a picture."""

    found: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Trouble:
    """No picture came. With `again_s` it is tried again then, without it makes no sense to."""

    error: PfscopeError
    again_s: float | None = None


@dataclass(frozen=True)
class Broken:
    """A fault of ours: it is for the window to end with it."""

    fault: Exception


Event = Shown | Incidents | Trouble | Broken


class Feed:
    """One thread that serves one window."""

    def __init__(self, source: Source, tell: Callable[[Event], None]) -> None:
        self._source, self._tell = source, tell
        self._changed = threading.Condition()
        self._order: Order | None = None
        self._number = 0
        self._ending = False
        # Nobody waits for it at the end: it may be in the middle of a question.
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def want(self, order: Order) -> None:
        """Want something else from now on."""
        with self._changed:
            self._order = order
            self._number += 1
            self._changed.notify()
        self._source.cut()

    def end(self) -> None:
        """Stop telling."""
        with self._changed:
            self._ending = True
            self._number += 1
            self._changed.notify()
        self._source.close()

    def _run(self) -> None:
        try:
            self._serve()
        except Exception as fault:  # noqa: BLE001 - else nobody would hear of it
            self._tell(Broken(fault))

    def _serve(self) -> None:
        done, pause_s = 0, FIRST_PAUSE_S
        while (wanted := self._wanted(done)) is not None:
            number, order = wanted
            try:
                for picture in self._pictures(order):
                    if number != self._number:
                        break
                    pause_s = FIRST_PAUSE_S
                    self._tell(Shown(order, picture))
                    self._look_for_incidents(picture)
                done = number
            except PfscopeError as error:
                done, pause_s = self._failed(order, number, error, pause_s)

    def _wanted(self, done: int) -> tuple[int, Order] | None:
        """Wait for an order that is not done, and return it with its number; None: the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._ending or self._number != done)
            return None if self._ending or self._order is None else (self._number, self._order)

    def _pictures(self, order: Order) -> Iterator[Picture]:
        if order.at_us is not None:
            yield Picture.read(self._source.now(order.view.words(iso(order.at_us))))
            return
        for told in self._source.live(order.view.words()):
            yield Picture.read(told)

    def _look_for_incidents(self, picture: Picture) -> None:
        """Tell what goes on at a picture's time; where that cannot be had, nothing."""
        moment = {"from": [iso(max(picture.time_us - _MOMENT_US, 0))], "to": [iso(picture.time_us)]}
        try:
            found = self._source.incidents(moment)
        except PfscopeError:
            return
        self._tell(Incidents(tuple(found)))

    def _failed(
        self, order: Order, number: int, error: PfscopeError, pause_s: float
    ) -> tuple[int, float]:
        """Tell of an error; return what is done, and how long the next pause would be."""
        if number != self._number:
            return number, pause_s  # it was cut off: something else is wanted
        if isinstance(error, UsageError) or order.at_us is not None or not self._source.pushes:
            self._tell(Trouble(error))
            return number, pause_s
        self._tell(Trouble(error, pause_s))
        with self._changed:
            self._changed.wait_for(lambda: self._number != number, pause_s)
        return 0, min(pause_s * 2, LONGEST_PAUSE_S)
