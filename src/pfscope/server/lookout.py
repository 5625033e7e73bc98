"""Watches what is committed, in one thread: incidents into the book, alerts to whom they concern.

It looks after every commit, and now and then when there is none. Whatever fails, it begins again
with what it wrote down last; frames, answers and what is stored never wait for it. What was told
before is not told again: alerts remember up to where the watch had come.
"""

import logging
import math
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from pfscope.query.asked import Site
from pfscope.query.catalog import Catalog
from pfscope.query.data import Data
from pfscope.query.engine import Queryable, StoreEngine
from pfscope.server.trouble import Trouble
from pfscope.store.patience import OutOfPatienceError, Patience, waiting
from pfscope.watch.alerts.alerting import Alerting
from pfscope.watch.alerts.settings import Alerts
from pfscope.watch.batch import PIECE_US
from pfscope.watch.book import Book
from pfscope.watch.live import Live, Sight
from pfscope.watch.live_file import LiveFile
from pfscope.watch.remembered import RememberedEngine
from pfscope.watch.signals import LONGEST_GAP_US
from pfscope.watch.source import LEARN_US, WatchedSource

log = logging.getLogger("pfscope.watch")
_TICK_S: Final = 5.0
_BREATH_S: Final = 0.05
"""So long it waits at least between two looks: frames of several servers come together."""
_WRITE_S: Final = 60.0
_PAUSE_S: Final = 10.0
_GRACE_S: Final = 3.0
"""So long the end waits for a look that is under way."""
_AHEAD_US: Final = 86_400 * 10**6
"""A server whose clock is ahead of ours by more has it wrong, if another one has not."""


class Lookout:
    """The one watch of a data directory."""

    def __init__(self, store: Queryable, directory: Path, book: Book, site: Site, alerts: Alerts):
        self.trouble = Trouble("watch")
        """Why nothing is watched."""
        self._engine = RememberedEngine(StoreEngine(store))
        self._source = WatchedSource(self._engine, site, lambda: None)
        self._source.explains = False
        self._book = book
        self._file = LiveFile(directory)
        self._alerting = Alerting(directory, alerts.rules, alerts.channels)
        self._live: Live | None = None
        self._newest: dict[str, int] = {}
        self._heard_us = 0
        """When something was committed last, by our own clock."""
        self._until_us = 0
        self._known: dict[str, int | None] = {
            record["id"]: None for record in book.all() if record["end_us"] is None
        }
        """The ends of the incidents of the last sight, by their ids."""
        self._change = threading.Condition()
        self._news = True
        self._ending = False
        self._patience = Patience(math.inf)
        self._write_at = 0.0
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def start(self, recorded: Mapping[str, pa.Table]) -> None:
        """Begin, with the last minutes that the store holds."""
        self.take(recorded)
        self._heard_us = min(self._heard_us, max(self._newest.values(), default=0))
        self._alerting.start()
        self._thread.start()

    def take(self, batch: Mapping[str, pa.Table]) -> None:
        """Take note that something was committed."""
        frames = batch.get("frames")
        if frames is None or not frames.num_rows:
            return
        newest = frames.group_by("server").aggregate([("time", "max")])
        times = pc.cast(newest["time_max"], pa.int64()).to_pylist()
        with self._change:
            for server, time_us in zip(newest["server"].to_pylist(), times, strict=True):
                self._newest[server] = max(time_us, self._newest.get(server, 0))
            self._heard_us = _now_us()
            self._news = True
            self._change.notify()

    def close(self) -> None:
        """End, and write down how far it has come."""
        with self._change:
            self._ending = True
            self._change.notify()
        self._thread.join(_GRACE_S)
        self._patience.lose()  # it was asking something that takes long
        self._thread.join()
        self._alerting.close()

    def _run(self) -> None:
        while not self._ending:
            try:
                with waiting(self._patience):
                    self._watch()
            except OutOfPatienceError:  # the end did not wait for it
                return
            except Exception as error:  # noqa: BLE001 - it begins again with what is written down
                self.trouble.failed(error)
                self._live = None
                with self._change:
                    self._change.wait_for(lambda: self._ending, _PAUSE_S)

    def _watch(self) -> None:
        """Look again and again, until the end."""
        while not self._ending:
            news, newest_us = self._next()
            self._engine.forget()
            if self._live is None:
                self._live, news = self._begun(newest_us), True
            if self._live is not None:
                self._look(self._live, newest_us if news else 0)
            self._tick()
            self.trouble.over()
        if self._live is not None:
            self._file.write(self._live.state())

    def _next(self) -> tuple[bool, int]:
        """Wait for something new, or for a while; return the time of the newest observation."""
        with self._change:
            self._change.wait_for(lambda: self._ending, _BREATH_S)
            self._change.wait_for(lambda: self._ending or self._news, _TICK_S)
            news, self._news = self._news, False
            limit = _now_us() + _AHEAD_US
            times = list(self._newest.values())
        return news, max([t for t in times if t < limit] or times, default=0)

    def _begun(self, newest_us: int) -> Live | None:
        """Return a watch that goes on where the last one was; None: there is nothing to watch."""
        first_us = Catalog.read(self._source.engine).first_us
        if first_us is None or not newest_us:
            return None
        begin_us = max(first_us, newest_us - LEARN_US)
        try:
            live = Live(self._source, begin_us, self._file.read())
        except (ValueError, KeyError, TypeError) as error:
            log.warning("the watch begins anew, what it knew makes no sense: %s", error)
            live = Live(self._source, begin_us)
        self._until_us = live.at_us or begin_us
        return live

    def _look(self, live: Live, newest_us: int) -> None:
        """Go on to a time, tell what is new, and write it down when that is due."""
        # What was there at the beginning is past: only how it is now is told.
        since_us = self._alerting.watched_us or newest_us - LONGEST_GAP_US
        going_on = newest_us > 0
        while going_on and not self._ending:
            self._until_us = min(self._until_us + PIECE_US, newest_us)
            for sight in live.look(self._until_us, since_us):
                self._tell(sight)
            going_on = self._until_us < newest_us
        if _now_us() - self._heard_us > LONGEST_GAP_US and (last := live.silence()):
            self._tell(last)
        self._book.watched_us = live.at_us or None
        if time.monotonic() >= self._write_at:
            self._file.write(live.state())
            self._write_at = time.monotonic() + _WRITE_S

    def _tell(self, sight: Sight) -> None:
        now = {incident.id: incident.end_us for incident in sight.incidents}
        for incident in sight.incidents:
            self._book.keep(incident)
        for name, end_us in self._known.items():
            if name not in now and (end_us is None or end_us >= sight.since_us):
                self._book.drop(name)  # it turned out to be part of another
        self._known = now
        self._alerting.advance(sight.incidents, whole=True, at_us=sight.at_us)

    def _tick(self) -> None:
        """Let rules on numbers be asked, and what was told be told again."""
        at_us = self._live.at_us if self._live else 0
        if at_us >= self._alerting.watched_us:
            self._alerting.advance(data=Data(self._source), at_us=at_us or None)


def _now_us() -> int:
    return time.time_ns() // 1000


Make = Callable[[Queryable, Path, Book], Lookout]
"""How an engine makes the one that watches its store."""
