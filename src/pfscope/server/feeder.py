"""Takes what the journal holds to the ingest, in one thread and in order, and lets it be released.

A frame leaves the journal when the ingest has committed it and has written a checkpoint behind
it. When anything fails, the ingest and its memory are given up and made anew from store, checkpoint
and journal, again and again, later and later; meanwhile the journal goes on taking frames. So no
failure loses a frame or counts one twice, as long as recovering passes by what is committed.

A frame on which the ingest itself breaks must not stop all others: it is put aside, whole, and
counted as dropped. Where every frame breaks it, the fault is ours, and they stay in the journal.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Protocol

from pfscope.frames import Frame, FrameError
from pfscope.server.journal import Journal, Kept
from pfscope.server.judge import Key
from pfscope.server.tally import CountingStore, Tally
from pfscope.server.trouble import CIRCUMSTANCES, Trouble

log = logging.getLogger("pfscope.server")
_BATCH_FRAMES: Final = 64
_BATCH_BYTES: Final = 16 << 20
_CHECKPOINT_BYTES: Final = 256 << 20
_IDLE_S: Final = 1.0
_FLUSH_S: Final = 2.0
_SHORTEST_PAUSE_S: Final = 1.0
_LONGEST_PAUSE_S: Final = 60.0
_ASIDE_IN_A_ROW: Final = 64
_CHECKPOINT_SHARE: Final = 20
"""A checkpoint of a large memory takes long: at most one part in so many of the time."""


class Ingest(Protocol):
    """What turns frames into rows."""

    def take(self, frames: Sequence[Frame]) -> None:
        """Turn frames into rows and commit them; some may be held until older ones have come.

        A frame that is bad is counted, not raised. With no frames, those held too long are taken.
        """

    def waiting(self) -> set[Key]:
        """Return the frames that were taken and are not committed."""

    def recover(self, frames: Iterable[Frame]) -> None:
        """Rebuild the memory from store, checkpoint and these frames; commit those that are new."""

    def checkpoint(self) -> None:
        """Write the memory down, so that the frames taken so far are not needed any more."""


class _EndingError(Exception):
    """Breaks off a recovery that nobody waits for any more."""


class Feeder:
    """The one thread that commits."""

    def __init__(
        self,
        journal: Journal,
        make_ingest: Callable[[], Ingest],
        store: CountingStore,
        tally: Tally,
        checkpoint_s: float = 60.0,
    ) -> None:
        self.trouble = Trouble("ingest")
        """Why frames wait in the journal."""
        self.memory_trouble = Trouble("memory")
        """Why those that are committed stay there."""
        self._journal = journal
        self._make_ingest = make_ingest
        self._store = store
        self._tally = tally
        self._checkpoint_s = checkpoint_s
        self._waiting: deque[Kept] = deque()
        self._taken: list[Kept] = []
        self._held = 0
        self._at: Kept | None = None
        self._lost: set[Key] = set()
        self._aside_in_a_row = 0
        self._change = threading.Condition()
        self._ending = False
        self._checkpoint_at = self._flush_at = 0.0
        self._pause_s = _SHORTEST_PAUSE_S
        self._thread = threading.Thread(target=self._run, name="feeder", daemon=True)

    @property
    def backlog(self) -> int:
        """Frames in the journal that are not committed."""
        return len(self._waiting) + self._held

    def start(self, left: Iterable[Kept]) -> None:
        """Begin with what an earlier life left in the journal."""
        self._waiting.extend(left)
        self._thread.start()

    def add(self, frames: Sequence[Kept]) -> None:
        """Take note of frames that are in the journal now."""
        with self._change:
            self._waiting.extend(frames)
            self._change.notify()

    def close(self) -> None:
        """Finish the batch at hand and write a checkpoint; the rest stays in the journal."""
        with self._change:
            self._ending = True
            self._change.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            try:
                ingest = self._recovered()
                if ingest is None:
                    continue
                self._feed(ingest)
            except _EndingError:
                return
            except Exception as error:  # noqa: BLE001 - the frames are safe, and are tried again
                self.trouble.failed(error)
            with self._change:
                if self._ending:
                    return
                self._change.wait_for(lambda: self._ending, self._pause_s)
            self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)

    def _recovered(self) -> Ingest | None:
        """Return an ingest that goes on where the last one was; None when frames were put aside."""
        ingest = self._make_ingest()
        left = self._begin_again()
        try:
            ingest.recover(self._frames(self._one_by_one(left)))
        except (_EndingError, *CIRCUMSTANCES):
            raise
        except Exception:
            if self._at is None or self._aside_in_a_row >= _ASIDE_IN_A_ROW:
                raise
            # The one that was taken last, or one that it released.
            self._put_aside({self._at.key, *ingest.waiting()})
            return None
        self._took(left, ingest)
        return ingest

    def _begin_again(self) -> list[Kept]:
        with self._change:
            self._waiting.extendleft(reversed(self._taken))
            self._taken, self._at = [], None
            return list(self._waiting)

    def _put_aside(self, suspects: set[Key]) -> None:
        self._aside_in_a_row += 1
        aside = [kept for kept in self._waiting if kept.key in suspects]
        log.exception("the ingest breaks on a frame; put aside: %s", [kept.key for kept in aside])
        self._journal.put_aside(aside)
        for kept in aside:
            self._tally.add(kept.key[0], "dropped", "put-aside")
        with self._change:
            self._waiting = deque(kept for kept in self._waiting if kept.key not in suspects)

    def _feed(self, ingest: Ingest) -> None:
        self._checkpoint_at = time.monotonic() + self._checkpoint_s
        while not self._ending:
            batch = self._next_batch()
            ingest.take(list(self._frames(batch)))
            self._took(batch, ingest)
            self._aside_in_a_row = 0 if batch else self._aside_in_a_row
            self._write_down(ingest)
            self._pause_s = _SHORTEST_PAUSE_S
            self.trouble.over()
        self._checkpoint(ingest)
        self._store.flush()

    def _next_batch(self) -> list[Kept]:
        with self._change:
            self._change.wait_for(lambda: self._waiting or self._ending, _IDLE_S)
            batch: list[Kept] = []
            size = 0
            for kept in self._waiting:
                size += kept.position.length
                if batch and (size > _BATCH_BYTES or len(batch) == _BATCH_FRAMES):
                    break
                batch.append(kept)
            return batch

    def _took(self, frames: list[Kept], ingest: Ingest) -> None:
        self._held = len(ingest.waiting())
        with self._change:
            for _ in frames:
                self._waiting.popleft()
            self._taken += frames

    def _frames(self, kept_frames: Iterable[Kept]) -> Iterator[Frame]:
        for kept in kept_frames:
            try:
                yield self._journal.read(kept)
            except FrameError as error:
                if kept.key not in self._lost:
                    self._lost.add(kept.key)
                    log.warning("frame %d of %s is lost: %s", kept.key[2], kept.key[0], error)
                    self._tally.add(kept.key[0], "dropped", "journal-damaged")

    def _one_by_one(self, frames: Iterable[Kept]) -> Iterator[Kept]:
        for kept in frames:
            if self._ending:
                raise _EndingError
            self._at = kept
            yield kept

    def _write_down(self, ingest: Ingest) -> None:
        """Write memory and counts down when that is due."""
        now = time.monotonic()
        taken_bytes = sum(kept.position.length for kept in self._taken)
        many = taken_bytes > _CHECKPOINT_BYTES and not self.memory_trouble.reason
        if many or now >= self._checkpoint_at:
            self._checkpoint(ingest)
        if now >= self._flush_at:
            self._store.flush()
            self._flush_at = now + _FLUSH_S

    def _checkpoint(self, ingest: Ingest) -> None:
        """Write the memory down and release what it includes; if that fails, try it again later."""
        begin = time.monotonic()
        if self._taken:
            try:
                ingest.checkpoint()
            except CIRCUMSTANCES as error:
                self.memory_trouble.failed(error)
            else:
                self.memory_trouble.over()
                self._release(ingest.waiting())
        end = time.monotonic()
        self._checkpoint_at = end + max(self._checkpoint_s, _CHECKPOINT_SHARE * (end - begin))

    def _release(self, waiting: set[Key]) -> None:
        self._journal.release(kept for kept in self._taken if kept.key not in waiting)
        self._taken = [kept for kept in self._taken if kept.key in waiting]
