"""Does the store's housekeeping in a thread of its own, so that no frame waits for it.

When it fails, that is told, and it is tried again, later and later. When the server ends, it is
broken off at its next step: the store undoes what was begun, then or when it is opened next.
"""

import threading
import time
from typing import Final

from pfscope.server.trouble import Trouble
from pfscope.store.protocol import Store

HOUSEKEEPING: Final = "housekeeping"
_EVERY_S: Final = 600.0
_SHORTEST_PAUSE_S: Final = 5.0


class _EndingError(Exception):
    """Breaks off what nobody waits for any more."""


class Housekeeper:
    """The one thread that calls `maintain`."""

    def __init__(self, every_s: float = _EVERY_S, pause_s: float = _SHORTEST_PAUSE_S) -> None:
        self.trouble = Trouble(HOUSEKEEPING)
        self._every_s = every_s
        self._shortest_pause_s = pause_s
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, store: Store) -> None:
        """Begin, and do what is due at once."""
        self._thread = threading.Thread(
            target=self._run, args=(store,), name=HOUSEKEEPING, daemon=True
        )
        self._thread.start()

    def step(self, _name: str) -> None:
        """Break off here if the server ends; for the store to call between its steps."""
        if self._ending.is_set():
            raise _EndingError

    def stop(self) -> None:
        """Begin nothing more, and break off what is under way."""
        self._ending.set()

    def wait(self, patience_s: float) -> bool:
        """Wait for its end; False when it is still at work after so long."""
        if self._thread is None:
            return True
        self._thread.join(patience_s)
        return not self._thread.is_alive()

    def _run(self, store: Store) -> None:
        pause_s = self._shortest_pause_s
        while not self._ending.is_set():
            try:
                store.maintain(time.time_ns() // 1000)
            except _EndingError:
                return
            except Exception as error:  # noqa: BLE001 - nothing is lost, and it is tried again
                self.trouble.failed(error)
                self._ending.wait(pause_s)
                pause_s = min(2 * pause_s, self._every_s)
            else:
                self.trouble.over()
                pause_s = self._shortest_pause_s
                self._ending.wait(self._every_s)
