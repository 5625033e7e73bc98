"""The journal: frames are in it and synced before anybody is told that they are stored.

One thread appends whatever requests have handed in, syncs once for all of it, and only then answers
them; many agents share one sync. A frame that the journal holds, or held a short while ago, is a
duplicate. What cannot be kept now (a full disk, a full journal, a failed sync) is to come later and
leaves nothing behind. A frame leaves with `release`, when it is safe elsewhere.
"""

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from pfscope.errors import InputError, PfscopeError
from pfscope.frames import (
    Frame,
    FrameError,
    FrameLog,
    FramesError,
    LogBusy,
    Position,
    decode,
)
from pfscope.server.judge import Candidate, Key, Verdict
from pfscope.server.limits import Limits
from pfscope.server.quarantine import quarantine
from pfscope.server.room import free_bytes, try_to_write
from pfscope.server.trouble import Trouble

_WAITING: Final = 256
_RECENT: Final = 100_000
_PROBE_S: Final = 1.0


class Kept(NamedTuple):
    """A frame in the journal."""

    key: Key
    position: Position


class _Handed(NamedTuple):
    candidates: Sequence[Candidate]
    answer: "Future[list[Verdict]]"


class Figures(NamedTuple):
    """What the journal has done since it was opened."""

    syncs: int
    sync_s: float
    damaged: int
    frames: int
    size_bytes: int


class Archive(NamedTuple):
    """Where released frames are kept further, and how much of them."""

    directory: Path
    max_bytes: int | None = None
    max_age_s: float | None = None


class Journal:
    """A frame log with group commit."""

    def __init__(
        self,
        directory: Path,
        limits: Limits,
        archive: Archive | None = None,
    ) -> None:
        self.directory = directory
        self.trouble = Trouble("journal")
        """Why frames cannot be kept."""
        self.archive_trouble = Trouble("archive")
        self._limits = limits
        self._on_kept: Callable[[Sequence[Kept]], None] = lambda _frames: None
        self._aside = directory.parent / "quarantine"
        quarantine(directory, self._aside)
        self._log = _open_log(directory)
        self._archive = archive and FrameLog(
            str(archive.directory), archive.max_bytes, archive.max_age_s
        )
        self._broken = False
        self._guard = threading.RLock()
        self._held: dict[Key, Position] = {}
        self._recent: deque[Key] = deque()
        self._recent_keys: set[Key] = set()
        self._syncs, self._sync_s = 0, 0.0
        self._queue: queue.Queue[_Handed | None] = queue.Queue(_WAITING)
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)

    def left(self) -> list[Kept]:
        """Return what an earlier life left, in order and each frame once."""
        for kept in self._left():
            self._held.setdefault(kept.key, kept.position)
        self._let_go_of_strays()
        return [Kept(key, position) for key, position in self._held.items()]

    def start(self, on_kept: Callable[[Sequence[Kept]], None]) -> None:
        """Begin to take frames; `on_kept` hears, in order, of everything that is durable."""
        self._on_kept = on_kept
        self._thread.start()

    def hand_in(self, candidates: Sequence[Candidate]) -> "Future[list[Verdict]]":
        """Have these frames kept; the answer comes when they are durable, or cannot be."""
        answer: Future[list[Verdict]] = Future()
        try:
            self._queue.put_nowait(_Handed(candidates, answer))
        except queue.Full:
            answer.set_result([_later(c.key, "too many frames are waiting") for c in candidates])
        return answer

    def holds(self, key: Key) -> bool:
        """Whether this frame is here, or was a short while ago."""
        with self._guard:
            return key in self._held or key in self._recent_keys

    def read(self, kept: Kept) -> Frame:
        """Return a frame; a damaged one is a `FrameError`."""
        return decode(self._encoded(kept))

    def release(self, frames: Iterable[Kept]) -> None:
        """Let go of frames that are safe elsewhere."""
        frames = list(frames)
        if self._archive is not None:
            self._copy_to(self._archive, frames)
        with self._guard:
            self._log.acknowledge([kept.position for kept in frames])
            for kept in frames:
                self._held.pop(kept.key, None)
                self._recent.append(kept.key)
                self._recent_keys.add(kept.key)
            while len(self._recent) > _RECENT:
                self._recent_keys.discard(self._recent.popleft())

    def put_aside(self, frames: Sequence[Kept]) -> None:
        """Move frames out of the way, whole, into a log of their own; then let go of them."""
        with FrameLog(str(self._aside / "frames")) as aside:
            for kept in frames:
                aside.append(self._encoded(kept))
            aside.sync()
        self.release(frames)

    def figures(self) -> Figures:
        """Return what the journal did and holds."""
        frames, size = len(self._log), self._log.size_bytes
        return Figures(self._syncs, self._sync_s, self._log.damaged, frames, size)

    def problem(self) -> str:
        """Return why frames are not kept at present; empty when they are."""
        return self.trouble.reason or self._lack_of_room()

    def finish(self) -> None:
        """Keep and answer what was handed in, and take no more; reading and releasing go on."""
        self._queue.put(None)
        self._thread.join()

    def close(self) -> None:
        """Let go of the files."""
        self._log.close()
        if self._archive is not None:
            self._archive.close()

    def _encoded(self, kept: Kept) -> bytes:
        with self._guard:
            return self._log.read(kept.position)

    def _left(self) -> Iterator[Kept]:
        for position in self._log.pending():
            # Damage is counted by the log, and was put aside before it was opened.
            with suppress(FrameError):
                yield Kept(decode(self._log.read(position)).key, position)

    def _run(self) -> None:
        ending = False
        while not ending:
            handed = self._next_handed()
            ending = None in handed
            if handed:
                self._keep([h for h in handed if h is not None])
            else:
                self._probe()

    def _next_handed(self) -> list[_Handed | None]:
        """Wait for requests and return all there are; in trouble, none after a while."""
        with suppress(queue.Empty):
            handed = [self._queue.get(timeout=_PROBE_S if self.trouble.reason else None)]
            with suppress(queue.Empty):
                while handed[-1] is not None:
                    handed.append(self._queue.get_nowait())
            return handed
        return []

    def _keep(self, handed: list[_Handed]) -> None:
        """Append all, sync once, answer each."""
        fresh: dict[Key, Kept] = {}
        try:
            self._mend()
            lack = self._lack_of_room()
            verdicts = [[self._append(c, fresh, lack) for c in h.candidates] for h in handed]
            self._sync(fresh)
        except Exception as error:  # noqa: BLE001 - nobody may be told that frames are safe
            self.trouble.failed(error)
            self._forget(fresh)
            verdicts = [[_later(c.key, self.trouble.reason) for c in h.candidates] for h in handed]
        for one, its_verdicts in zip(handed, verdicts, strict=True):
            with suppress(InvalidStateError):  # whoever asked may have gone away
                one.answer.set_result(its_verdicts)

    def _probe(self) -> None:
        """See whether frames could be kept again: senders may wait until they are told so."""
        with suppress(OSError, PfscopeError):
            self._mend()
            if not self._lack_of_room():
                try_to_write(self.directory)
                self.trouble.over()

    def _append(self, candidate: Candidate, fresh: dict[Key, Kept], lack: str) -> Verdict:
        key = candidate.key
        if key in fresh or self.holds(key):
            return Verdict(key, "duplicate")
        if lack:
            self.trouble.met(lack)
            return _later(key, lack)
        try:
            fresh[key] = Kept(key, self._log.append(candidate.encoded))
        except FramesError as error:
            self.trouble.failed(error)
            return _later(key, self.trouble.reason)
        return Verdict(key, "stored")

    def _lack_of_room(self) -> str:
        """Return why nothing may be appended now, if so."""
        if self._log.size_bytes > self._limits.journal_bytes:
            return "the journal is full"
        if free_bytes(self.directory) < self._limits.free_bytes + self._owed_bytes():
            return "the disk is nearly full"
        return ""

    def _owed_bytes(self) -> int:
        """Return about how much the store will take for frames that are here and not yet there."""
        with self._guard:
            return sum(position.length for position in self._held.values())

    def _sync(self, fresh: dict[Key, Kept]) -> None:
        if not fresh:
            return
        begin = time.monotonic()
        self._log.sync()
        self._syncs += 1
        self._sync_s += time.monotonic() - begin
        with self._guard:
            self._held.update((kept.key, kept.position) for kept in fresh.values())
        self.trouble.over()
        self._on_kept(list(fresh.values()))

    def _forget(self, fresh: dict[Key, Kept]) -> None:
        """Abandon what may or may not be on the disk, and the segment that it is in.

        After a failed sync the kernel may call the same pages clean: they are not to be trusted.
        """
        self._broken = True
        with self._guard, suppress(OSError):
            self._log.acknowledge([kept.position for kept in fresh.values()])
            self._log.close()

    def _mend(self) -> None:
        """Begin a new segment after a failure; as long as that fails, nothing is kept."""
        if self._broken:
            with self._guard:
                self._log = _open_log(self.directory)
                self._let_go_of_strays()
            self._broken = False

    def _let_go_of_strays(self) -> None:
        """Acknowledge what nobody waits for: a full disk may have forgotten that it was before."""
        wanted = set(self._held.values())
        self._log.acknowledge(p for p in self._log.pending() if p not in wanted)

    def _copy_to(self, archive: FrameLog, frames: list[Kept]) -> None:
        for kept in frames:
            try:
                archive.append(self._encoded(kept))
            except (FramesError, OSError) as error:
                self.archive_trouble.met(f"a frame is not archived: {error}")
            else:
                self.archive_trouble.over()


def _later(key: Key, reason: str) -> Verdict:
    return Verdict(key, "retry", "later", reason)


def _open_log(directory: Path) -> FrameLog:
    try:
        return FrameLog(str(directory))
    except LogBusy:
        raise InputError(f"another process writes to {directory}; only one server can") from None
    except OSError as error:
        raise InputError(f"cannot open the journal {directory}: {error.strerror}") from None
