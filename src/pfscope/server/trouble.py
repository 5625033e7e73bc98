"""What keeps a part of the server from its work: shown while it lasts, told in the log sparingly.

Trouble that stays, or that comes and goes with every attempt, makes a line now and then, and not
one for each attempt; the end of trouble that was told is told too.
"""

import logging
import time
from collections.abc import Callable
from typing import Final

from pfscope.errors import PfscopeError
from pfscope.frames import LogFull

log = logging.getLogger("pfscope.server")
_STILL_S: Final = 600.0
"""How often the log says that nothing has changed."""
_AT_MOST_S: Final = 30.0
"""How often it says that something has."""
CIRCUMSTANCES: Final = (OSError, MemoryError, PfscopeError, LogFull)
"""Failures of disk, memory or store: neither a frame nor the program is to blame."""


class Trouble:
    """The trouble of one part; one thread takes note of it, any may look."""

    def __init__(self, part: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.part = part
        self.reason = ""
        """Why the part does not do its work; empty while it does."""
        self._clock = clock
        self._began_s = 0.0
        self._told_s = float("-inf")
        self._told = ""
        """The reason that the log gave last, if it did not say since that this is over."""

    def failed(self, error: Exception) -> None:
        """Take note of an error; what the program is to blame for is told with its traceback."""
        fault = None if isinstance(error, CIRCUMSTANCES) else error
        self.met(str(error) or type(error).__name__, fault)

    def met(self, reason: str, fault: Exception | None = None) -> None:
        """Take note of what stands in the way."""
        now_s = self._clock()
        if not self.reason:
            self._began_s = now_s
        self.reason = reason
        if now_s - self._told_s >= (_STILL_S if reason == self._told else _AT_MOST_S):
            self._told_s, self._told = now_s, reason
            log.error("%s: %s", self.part, reason, exc_info=fault)

    def over(self) -> None:
        """Take note that the part works."""
        if self.reason and self._told:
            log.info("%s: works again after %.0f s", self.part, self._clock() - self._began_s)
            self._told = ""
        self.reason = ""
