"""One collection: every text that the server offers goes into a frame's builder, unparsed.

What cannot be read is noted and passed by. Memory holds one buffer, whatever the texts' size.
"""

import os
import time
from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple

from pfscope.agent.discover import Found, Source, discover, target_names
from pfscope.agent.lctl import get_param
from pfscope.agent.parameters import BOOT_ID, CLEANUP_INTERVALS, lustre_patterns
from pfscope.frames import FrameBuilder

REDISCOVER_S = 60.0
FRAME_LIMIT = 64 << 20
"""A frame is closed when its compressed texts reach this; what did not fit is noted."""
_BUFFER_BYTES = 64 << 10


class Problem(NamedTuple):
    """A text that is missing from a frame, or not whole in it."""

    name: str
    reason: str


class Collector:
    """Reads one server's texts; looks again for new and vanished ones now and then."""

    def __init__(
        self,
        root: str,
        groups: Iterable[str],
        lctl: Optional[str] = None,
        monotonic: Callable[[], float] = time.monotonic,
        frame_limit: int = FRAME_LIMIT,
    ) -> None:
        self._root = root
        self._groups = tuple(groups)
        self._lctl = lctl
        self._monotonic = monotonic
        self._frame_limit = frame_limit
        self._buffer = memoryview(bytearray(_BUFFER_BYTES))
        self._look()

    def boot_id(self) -> str:
        """Return the kernel's id of this boot."""
        try:
            with open(os.path.join(self._root, BOOT_ID.lstrip("/")), "rb") as file:
                return file.read(100).decode("ascii", "replace").strip() or "unknown"
        except OSError:
            return "unknown"

    def collect(self, builder: FrameBuilder) -> List[Problem]:
        """Read everything into `builder` and return what could not be read."""
        if self._stale():
            self._look()
        problems = []
        for name, read in self._readers():
            if builder.size_bytes >= self._frame_limit:
                problems.append(Problem(name, "the frame is full"))
                continue
            try:
                read(builder)
            except OSError as error:
                problems.append(Problem(name, error.strerror or str(error)))
                self._look_again_at = self._monotonic()
        return problems
