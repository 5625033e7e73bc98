"""How long a query may take: whoever asks says so around it, and the database is told to stop."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Final

import duckdb

from pfscope.errors import PfscopeError

_TOLD: Final = "this takes too long to answer"
_AGAIN_S: Final = 0.1


class OutOfPatienceError(PfscopeError):
    """A query took longer than whoever asked would wait; it was stopped."""


class Patience:
    """How long queries may take together; it can be lost earlier, from any thread."""

    def __init__(self, seconds: float) -> None:
        self._deadline_s = time.monotonic() + seconds

    @property
    def left_s(self) -> float:
        """What is left of it."""
        return max(self._deadline_s - time.monotonic(), 0.0)

    def lose(self) -> None:
        """Wait no longer."""
        self._deadline_s = 0.0


_patience: Final[ContextVar[Patience | None]] = ContextVar("patience", default=None)


@contextmanager
def waiting(patience: Patience) -> Iterator[None]:
    """Let all queries of the block, which this thread makes, take no longer."""
    before = _patience.set(patience)
    try:
        yield
    finally:
        _patience.reset(before)


@contextmanager
def stopped_in_time(interrupt: Callable[[], None]) -> Iterator[None]:
    """Call `interrupt` when the patience ends before the block does."""
    patience = _patience.get()
    if patience is None:
        yield
        return
    if not patience.left_s:
        raise OutOfPatienceError(_TOLD)
    done = threading.Event()

    def stop() -> None:
        # Again and again, as an interrupt that comes before the query has begun is lost.
        while not done.wait(min(patience.left_s, _AGAIN_S) or _AGAIN_S):
            if not patience.left_s:
                with suppress(duckdb.Error):  # it ended just now
                    interrupt()

    watch = threading.Thread(target=stop, name="patience", daemon=True)
    watch.start()
    try:
        yield
    except duckdb.InterruptException as error:
        raise OutOfPatienceError(_TOLD) from error
    finally:
        done.set()
        watch.join()
