"""Which moment is shown: now, or one of the past, that stands or runs at some speed."""

from collections.abc import Callable
from typing import Final

SPEEDS: Final = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)
"""Times as fast as life."""
USUAL_STEP_US: Final = 60 * 10**6
JUMP: Final = 10
"""So many steps at once with shift."""


class Player:
    """A tape of the past whose end is now.

    `clock_us` tells the time; where nothing is pushed, the end is the newest observation.
    """

    def __init__(self, clock_us: Callable[[], int], *, live: bool) -> None:
        self._clock_us = clock_us
        self._live = live
        self._speed: int | None = None
        self._newest_us: int | None = None
        self._heard_us = 0
        self.shown_us: int | None = None
        """The time of the picture that is shown."""
        self.at_us: int | None = None
        """The moment that is wanted; None: the end."""
        self.running = live
        self.step_us = USUAL_STEP_US

    @property
    def speed(self) -> int:
        """How fast the past runs: so that about one observation a second is seen, at first."""
        if self._speed is None:
            return next((s for s in SPEEDS if s * 10**6 >= self.step_us), SPEEDS[-1])
        return self._speed

    @property
    def state(self) -> str:
        """`live`, `end`, `playing` or `paused`."""
        if self.at_us is None:
            return "live" if self._live else "end"
        return "playing" if self.running else "paused"

    def heard(self, time_us: int, step_us: int | None, *, newest: bool) -> None:
        """Note a picture."""
        self.shown_us = time_us
        self.step_us = step_us or self.step_us
        if newest or self._newest_us is None or time_us > self._newest_us:
            self._newest_us, self._heard_us = time_us, self._clock_us()

    def end_us(self) -> int | None:
        """Return when the tape ends."""
        if self._newest_us is None:
            return None
        gone_us = self._clock_us() - self._heard_us if self._live else 0
        return self._newest_us + max(gone_us, 0)

    def to_end(self) -> None:
        """Show the newest picture, and those that come."""
        self.at_us, self.running = None, self._live

    def go(self, moment_us: int) -> None:
        """Show a moment."""
        end_us = self.end_us()
        if end_us is not None and moment_us >= end_us:
            self.to_end()
            return
        if self.at_us is None:
            self.running = False
        self.at_us = max(moment_us, 0)

    def shift(self, by_us: int) -> None:
        """Go so far from what is shown."""
        from_us = self.shown_us if self.at_us is None else self.at_us
        if from_us is None or (by_us > 0 and self.at_us is None):
            return
        self.go(from_us + by_us)

    def toggle(self) -> None:
        """Stand still, or go on."""
        if self.at_us is None:
            if not self._live or self.shown_us is None:
                return
            self.at_us, self.running = self.shown_us, False
        else:
            self.running = not self.running

    def change_speed(self, by: int) -> None:
        """Run faster or slower."""
        place = SPEEDS.index(self.speed) + by
        self._speed = SPEEDS[min(max(place, 0), len(SPEEDS) - 1)]

    def tick(self, gone_s: float) -> bool:
        """Let so much time go by; tell whether another moment is wanted."""
        if self.at_us is None or not self.running:
            return False
        self.go(self.at_us + round(gone_s * self.speed * 1e6))
        return True
