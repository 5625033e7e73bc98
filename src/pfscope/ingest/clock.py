"""The time of the store: a server's wall clock without its steps, never running backwards.

The monotonic clock, which nobody sets, tells when the wall clock was stepped, and by how much. Time
then goes on as before the step, unless the frame was received by a clock that agrees with the new
wall clock. After a reboot the wall clock is believed.
"""

from dataclasses import dataclass, field
from typing import Final

from pfscope.frames import Origin

STEP_US: Final = 1_000_000
"""A difference between both clocks that is more than slewing and sampling make."""

_BOOTS_KEPT: Final = 16
AGREES_US: Final = 60_000_000
"""How far our own clock may be from that of a frame that was just made."""


@dataclass(frozen=True, slots=True)
class Tick:
    """When a frame was made, in the time of the store."""

    time_us: int
    step_us: int = 0
    """How far the wall clock was stepped since the frame before; 0 where it was not."""


@dataclass(slots=True)
class ServerClock:
    """The clock of one server."""

    boot: str = ""
    wall_us: int = 0
    monotonic_us: int = 0
    time_us: int = 0
    offset_us: int = 0
    """What must be added to the wall clock because of its steps."""
    past_boots: list[str] = field(default_factory=list)

    def tick(self, origin: Origin, received_us: int = 0) -> Tick:
        """Return the time of the next frame in order; a late frame has the time it was made."""
        boot = origin.epoch.partition(".")[0]
        wall, monotonic = origin.wall_ns // 1000, origin.monotonic_ns // 1000
        if boot != self.boot or not monotonic or not self.monotonic_us:
            return self._other_clock(boot, wall, monotonic)
        passed = monotonic - self.monotonic_us
        if passed <= 0:
            return Tick(wall + self.offset_us)
        step = wall - (self.wall_us + passed)
        if abs(step) <= STEP_US:
            step = 0
        self._correct(step, wall, received_us)
        time = max(wall + self.offset_us, self.time_us + 1)
        return self._accept(boot, wall, monotonic, time, step)

    def _other_clock(self, boot: str, wall: int, monotonic: int) -> Tick:
        """Return the time of a frame whose monotonic clock cannot be compared with the last one."""
        rebooted = monotonic and self.monotonic_us and boot not in self.past_boots
        if rebooted and wall <= self.time_us and boot != self.boot:
            # It came up with a clock that is behind: go on from where we are.
            self.offset_us = self.time_us + 1 - wall
        elif wall > self.time_us:
            self.offset_us = 0
        else:
            return Tick(wall)
        if self.boot and boot != self.boot:
            self.past_boots = [*self.past_boots[-_BOOTS_KEPT:], self.boot]
        return self._accept(boot, wall, monotonic, wall + self.offset_us)

    def _correct(self, step: int, wall: int, received_us: int) -> None:
        going_on = self.offset_us - step
        off, off_going_on = abs(wall - received_us), abs(wall + going_on - received_us)
        right_now = step and off < min(AGREES_US, off_going_on)
        self.offset_us = 0 if right_now else going_on

    def _accept(self, boot: str, wall: int, monotonic: int, time: int, step: int = 0) -> Tick:
        if time > self.time_us:
            self.boot, self.wall_us, self.monotonic_us = boot, wall, monotonic
            self.time_us = time
        return Tick(time, step)
