"""The time of the store: a server's wall clock that never runs backwards.

Its monotonic clock, which nobody sets, tells when the wall clock was stepped and by how much.
"""

from dataclasses import dataclass
from typing import Final

from pfscope.frames import Origin

STEP_US: Final = 1_000_000
"""A difference between both clocks that is more than slewing and sampling make."""


@dataclass(frozen=True, slots=True)
class Tick:
    """When a frame was made, in the time of the store."""

    time_us: int
    step_us: int = 0
    """How far the wall clock was stepped since the frame before; 0 where it was not."""


@dataclass(slots=True)
class ServerClock:
    """The clock of one server."""

    epoch: str = ""
    wall_us: int = 0
    monotonic_us: int = 0
    time_us: int = 0

    def tick(self, origin: Origin) -> Tick:
        """Return the time of the next frame in order; of a late frame its own wall time."""
        wall, monotonic = origin.wall_ns // 1000, origin.monotonic_ns // 1000
        same_clock = origin.epoch == self.epoch and monotonic and self.monotonic_us
        if not same_clock:
            return self._accept(origin.epoch, wall, monotonic, wall)
        passed = monotonic - self.monotonic_us
        if passed < 0:
            return Tick(wall)
        step = wall - (self.wall_us + passed)
        if abs(step) <= STEP_US:
            step = 0
        time = wall if wall > self.time_us else self.time_us + max(passed, 1)
        return self._accept(origin.epoch, wall, monotonic, time, step)

    def _accept(self, epoch: str, wall: int, monotonic: int, time: int, step: int = 0) -> Tick:
        if time > self.time_us:
            self.epoch, self.wall_us, self.monotonic_us = epoch, wall, monotonic
            self.time_us = time
        return Tick(time, step)
