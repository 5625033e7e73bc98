"""The frame log: one directory of segment files that is a spool, a journal or an archive.

Design
- One writer (held by a lock on `.lock`), appending to the newest segment; any number of readers.
- `append` hands the bytes to the kernel at once, so the end of the process, however sudden, loses
  nothing; `sync` makes what was appended survive the end of the machine.
- An open log never appends to a segment of an earlier life: a torn tail is cut and left behind.
- A frame leaves by acknowledgement or by the bounds. Segments are deleted as wholes: when all
  their frames are acknowledged, or, oldest first, when the log has too many bytes or a segment's
  newest frame is too old. What the bounds delete unacknowledged is counted in `dropped`.
- Damage is skipped and counted in `damaged`; it never prevents opening, reading or appending.
- A write that fails (a full disk) is undone; the log stays valid and `LogFull` says so.
All methods may be called from several threads.
"""

import errno
import fcntl
import os
import threading
import time
from typing import Any, Callable, Container, Dict, Iterable, List, Optional

from pfscope.frames.errors import FrameError, LogBusy, LogFull
from pfscope.frames.frame import decode
from pfscope.frames.record import unpack_head
from pfscope.frames.segment import ACK_SUFFIX, SEGMENT_SUFFIX, Position, Segment

SEGMENT_BYTES = 16 << 20
_NO_LOCKS = (errno.ENOSYS, errno.EOPNOTSUPP)
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_UNREADABLE = (errno.ENOENT, errno.EIO)
_SEGMENTS_AT_LEAST = 8
"""A bounded log is split at least so finely, so that dropping one segment keeps most of it."""


class FrameLog:
    """An append-only log of encoded frames; see the module's text for what it promises."""

    def __init__(
        self,
        directory: str,
        max_bytes: Optional[int] = None,
        max_age_s: Optional[float] = None,
        segment_bytes: int = SEGMENT_BYTES,
        clock: Callable[[], float] = time.time,
        write: Callable[[int, Any], int] = os.write,
    ) -> None:
        self.directory = directory
        self.max_bytes = max_bytes
        self.max_age_s = max_age_s
        self.dropped = {"size": 0, "age": 0}
        """Unacknowledged frames that the bounds deleted, since opening."""
        self.damaged = 0
        """Damaged stretches and frames that were met, since opening."""
        if max_bytes is not None:
            segment_bytes = max(1, min(segment_bytes, max_bytes // _SEGMENTS_AT_LEAST))
        self._segment_bytes = segment_bytes
        self._clock = clock
        self._write = write
        self._guard = threading.RLock()
        self._active_fd: Optional[int] = None
        self._segments: Dict[int, Segment] = {}
        os.makedirs(directory, exist_ok=True)
        self._lock_fd: Optional[int] = _lock(directory)
        self._directory_fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            self._load()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "FrameLog":
        return self

    def __exit__(self, *_exception: Any) -> None:
        self.close()

    def __len__(self) -> int:
        """Frames that are not acknowledged."""
        with self._guard:
            return sum(segment.pending_count for segment in self._segments.values())

    @property
    def size_bytes(self) -> int:
        """Bytes of all segments."""
        with self._guard:
            return sum(segment.size for segment in self._segments.values())

    def append(self, encoded: bytes) -> Position:
        """Append one encoded frame and return where it is kept."""
        head = unpack_head(encoded)
        if head.length != len(encoded):
            raise FrameError("not exactly one frame")
        with self._guard:
            self._enforce_bounds(len(encoded))
            segment = self._segment_for(len(encoded), head.wall_ns)
            self._append_bytes(segment, encoded)
            return segment.add(head)

    def sync(self) -> None:
        """Make everything that was appended survive a crash of the machine."""
        with self._guard:
            if self._active_fd is not None:
                os.fsync(self._active_fd)
            os.fsync(self._directory_fd)

    def pending(self, newest_first: bool = False, limit: Optional[int] = None) -> List[Position]:
        """Return the frames that are not acknowledged, in the order of appending or its reverse."""
        found: List[Position] = []
        with self._guard:
            numbers = sorted(self._segments, reverse=newest_first)
            for number in numbers:
                for position in self._segments[number].pending(newest_first):
                    if limit is not None and len(found) >= limit:
                        return found
                    found.append(position)
        return found

    def read(self, position: Position) -> bytes:
        """Return the encoded frame kept there; `FrameError` when it is gone or damaged.

        A frame that turns out to be damaged is counted and not pending any more.
        """
        with self._guard:
            segment = self._segments.get(position.segment)
            if segment is None:
                raise FrameError("the frame was deleted")
            try:
                encoded = _read_at(segment.path, position)
                decode(encoded)
            except FrameError:
                self.damaged += 1
                self.acknowledge([position])
                raise
            return encoded

    def acknowledge(self, positions: Iterable[Position]) -> None:
        """Take note that these frames are safe elsewhere; unknown positions are ignored."""
        offsets: Dict[int, List[int]] = {}
        for position in positions:
            offsets.setdefault(position.segment, []).append(position.offset)
        with self._guard:
            for number in sorted(offsets):
                segment = self._segments.get(number)
                if segment is not None:
                    segment.acknowledge(offsets[number])
                    self._remove_if_done(segment)

    def close(self) -> None:
        """Give up the log; what is fully acknowledged is deleted."""
        with self._guard:
            if self._lock_fd is None:
                return
            self._seal()
            os.close(self._directory_fd)
            os.close(self._lock_fd)
            self._lock_fd = None

    def _load(self) -> None:
        numbers = _segment_numbers(self.directory)
        for number in numbers:
            segment = Segment(self.directory, number)
            segment.load(last=number == numbers[-1])
            self._segments[number] = segment
            self.damaged += segment.damaged
            self._remove_if_done(segment)
        self._next_number = (numbers[-1] if numbers else 0) + 1
        _remove_orphans(self.directory, self._segments)

    def _segment_for(self, length: int, wall_ns: int) -> Segment:
        if self._active_fd is not None:
            active = self._segments[self._next_number - 1]
            old_ns = wall_ns - (active.oldest_ns or wall_ns)
            spread_s = (self.max_age_s or float("inf")) / (3 * _SEGMENTS_AT_LEAST)
            full = active.size and active.size + length > self._segment_bytes
            if not full and old_ns <= spread_s * 1e9:
                return active
            self._seal()
        return self._open_segment()

    def _open_segment(self) -> Segment:
        segment = Segment(self.directory, self._next_number)
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND
        try:
            self._active_fd = os.open(segment.path, flags, 0o666)
        except OSError as error:
            raise _refusal(error) from error
        self._segments[segment.number] = segment
        self._next_number += 1
        return segment

    def _append_bytes(self, segment: Segment, encoded: bytes) -> None:
        assert self._active_fd is not None
        left = memoryview(encoded)
        try:
            while left:
                left = left[self._write(self._active_fd, left) :]
        except OSError as error:
            self._undo(segment)
            raise _refusal(error) from error

    def _undo(self, segment: Segment) -> None:
        assert self._active_fd is not None
        try:
            os.ftruncate(self._active_fd, segment.size)
        except OSError:
            # What was written of the frame stays as a torn tail; nothing may be appended to it.
            self._seal()

    def _seal(self) -> None:
        """Let go of the active segment, safe on the disk: `sync` looks at the next one only."""
        if self._active_fd is not None:
            try:
                os.fsync(self._active_fd)
            finally:
                os.close(self._active_fd)
                self._active_fd = None
            self._remove_if_done(self._segments[self._next_number - 1])

    def _remove_if_done(self, segment: Segment) -> None:
        active = self._active_fd is not None and segment.number == self._next_number - 1
        # A segment of nothing but damage is kept for people to look at, until the bounds take it.
        unread = segment.damaged and segment.oldest_ns is None and segment.size
        if not active and not segment.pending_count and not unread:
            segment.remove()
            self._segments.pop(segment.number, None)

    def _enforce_bounds(self, length: int) -> None:
        if self.max_bytes is not None:
            if length > self.max_bytes:
                raise LogFull("a frame of %d bytes is larger than the log may be" % length)
            while self._segments and self.size_bytes + length > self.max_bytes:
                self._drop_oldest("size")
        if self.max_age_s is not None:
            horizon_ns = (self._clock() - self.max_age_s) * 1e9
            while self._segments and (self._oldest().newest_ns or 0) < horizon_ns:
                self._drop_oldest("age")

    def _oldest(self) -> Segment:
        return self._segments[min(self._segments)]

    def _drop_oldest(self, reason: str) -> None:
        segment = self._oldest()
        if self._active_fd is not None and segment.number == self._next_number - 1:
            os.close(self._active_fd)
            self._active_fd = None
        self.dropped[reason] += segment.pending_count
        del self._segments[segment.number]
        segment.remove()


def _lock(directory: str) -> int:
    lock_fd = os.open(os.path.join(directory, ".lock"), os.O_CREAT | os.O_RDWR, 0o666)
    try:
        fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        # Some network file systems have no locks; there the caller answers for one writer.
        if error.errno not in _NO_LOCKS:
            os.close(lock_fd)
            raise LogBusy("%s is in use by another process" % directory) from None
    return lock_fd


def _read_at(path: str, position: Position) -> bytes:
    try:
        with open(path, "rb") as file:
            file.seek(position.offset)
            return file.read(position.length)
    except OSError as error:
        if error.errno in _UNREADABLE:
            raise FrameError("the frame cannot be read: %s" % error.strerror) from None
        raise


def _segment_numbers(directory: str) -> List[int]:
    stems = (
        name[: -len(SEGMENT_SUFFIX)]
        for name in os.listdir(directory)
        if name.endswith(SEGMENT_SUFFIX)
    )
    return sorted(int(stem) for stem in stems if stem.isdigit() and len(stem) == 16)


def _remove_orphans(directory: str, segments: Container[int]) -> None:
    for name in os.listdir(directory):
        stem, suffix = os.path.splitext(name)
        if suffix == ACK_SUFFIX and stem.isdigit() and int(stem) not in segments:
            os.unlink(os.path.join(directory, name))


def _refusal(error: OSError) -> Exception:
    if error.errno in _NO_ROOM:
        return LogFull("no room for a frame: %s" % error.strerror)
    return error
