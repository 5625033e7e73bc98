"""When to collect: at multiples of the interval on the wall clock, never twice at once.

All servers of a site thus read in the same second. A collection that takes more than a quarter of
the interval makes its own interval longer, by whole multiples; a calm while makes it shorter again.
"""

import math
import os
import select
import time
from typing import Callable

SHARE = 0.25
"""The part of the interval that reading may take."""
_CALM_ROUNDS = 3


class Pace:
    """The interval that a server can bear."""

    def __init__(self, interval_s: int) -> None:
        self.interval_s = interval_s
        self.factor = 1
        self._recent = [1] * _CALM_ROUNDS

    @property
    def effective_s(self) -> int:
        """The interval to keep at present."""
        return self.interval_s * self.factor

    def observe(self, duration_s: float) -> None:
        """Learn how long a collection took: widen at once, narrow after some calm rounds."""
        needed = max(1, math.ceil(duration_s / SHARE / self.interval_s))
        self._recent = self._recent[1:] + [needed]
        self.factor = max(needed, min(self.factor, max(self._recent)))


def next_tick(now_s: float, step_s: int) -> int:
    """Return the first multiple of `step_s` after `now_s`."""
    return (math.floor(now_s / step_s) + 1) * step_s


class Stop:
    """A request to end, from a signal or another thread, that also ends a sleep at once."""

    def __init__(self) -> None:
        self._read_fd, self._write_fd = os.pipe()
        os.set_blocking(self._write_fd, False)
        self.requested = False

    def request(self, *_signal: object) -> None:
        """Ask to end; safe in a signal handler."""
        self.requested = True
        os.write(self._write_fd, b".")

    def wait(self, seconds: float) -> None:
        """Sleep, or return early when the end is requested."""
        if not self.requested:
            select.select([self._read_fd], [], [], max(0.0, seconds))

    def close(self) -> None:
        """Release the pipe."""
        os.close(self._read_fd)
        os.close(self._write_fd)


def wait_for_tick(
    step_s: int,
    wait: Callable[[float], None],
    stopped: Callable[[], bool],
    clock: Callable[[], float] = time.time,
) -> None:
    """Sleep until the grid's next tick; a clock that is set back meanwhile moves the tick too."""
    tick = next_tick(clock(), step_s)
    while not stopped():
        left = tick - clock()
        if left <= 0:
            return
        if left > step_s:
            tick = next_tick(clock(), step_s)
            continue
        wait(left)
