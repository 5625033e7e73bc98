"""One collection: every text that the server offers goes into a frame's builder, unparsed.

What cannot be read is noted and passed by. Memory holds one buffer, whatever the texts' size.
"""

import io
import os
import time
from functools import partial
from typing import Callable, Iterable, Iterator, List, NamedTuple, Optional, Tuple, Union

from pfscope.agent.discover import discover, lustre_sources, target_names
from pfscope.agent.lctl import get_param
from pfscope.agent.parameters import BOOT_ID, CLEANUP_INTERVALS, lustre_patterns
from pfscope.frames import FrameBuilder

Chunk = Union[bytes, memoryview]
REDISCOVER_S = 60.0
FRAME_LIMIT = 48 << 20
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
        problems: List[Problem] = []
        for name, read in self._readers():
            if builder.size_bytes >= self._frame_limit:
                problems.append(Problem(name, "the frame is full"))
                continue
            try:
                self._read(builder, name, read)
            except OSError as error:
                problems.append(Problem(name, error.strerror or str(error)))
                if isinstance(error, FileNotFoundError):
                    self._look_again_at = self._monotonic()
        return problems

    def _look(self) -> None:
        self.found = discover(self._root, self._groups, self._lctl)
        self.cleanup_s = self._cleanup_interval()
        self._look_again_at = self._monotonic() + REDISCOVER_S

    def _stale(self) -> bool:
        if self._monotonic() >= self._look_again_at:
            return True
        return not self.found.lctl and tuple(target_names(self.found.bases)) != self.found.targets

    def _readers(self) -> Iterator[Tuple[str, Callable[[], Iterator[Chunk]]]]:
        if self.found.lctl:
            patterns = lustre_patterns(self._groups)
            yield "lctl", partial(get_param, self.found.lctl, patterns)
        for source in self.found.sources:
            yield source.name, partial(self._chunks, source.path)

    def _read(self, builder: FrameBuilder, name: str, read: Callable[[], Iterator[Chunk]]) -> None:
        """Read one section; when reading breaks off, what came before is kept."""
        start = self._monotonic()
        chunks = read()
        first = next(chunks, b"")
        builder.begin(name)
        try:
            builder.add(first)
            for chunk in chunks:
                builder.add(chunk)
                if builder.size_bytes >= self._frame_limit:
                    raise OSError("the frame is full")
        finally:
            builder.end(int((self._monotonic() - start) * 1e6))

    def _chunks(self, path: str) -> Iterator[memoryview]:
        # Not blocking: a copied tree may hold a pipe where a file was expected.
        file_fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with io.FileIO(file_fd, closefd=True) as file:
            while True:
                length = file.readinto(self._buffer)
                if not length:
                    return
                yield self._buffer[:length]

    def _cleanup_interval(self) -> int:
        """Return the shortest `job_cleanup_interval` of the targets; 0 when there is none."""
        texts = []
        try:
            if self.found.lctl:
                patterns = list(CLEANUP_INTERVALS)
                texts = b"".join(get_param(self.found.lctl, patterns, names=False)).split()
            for source in lustre_sources(self.found.bases, CLEANUP_INTERVALS):
                texts.append(b"".join(bytes(chunk) for chunk in self._chunks(source.path)).strip())
        except OSError:
            return 0
        return min((int(t) for t in texts if t.isdigit() and int(t)), default=0)
