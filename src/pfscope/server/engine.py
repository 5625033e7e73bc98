"""The engine: journal, ingest and store of one data directory, behind the few calls HTTP needs.

`keep` answers when every frame has its verdict, and a frame that is `stored` is durable by then.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa

from pfscope.config import Config
from pfscope.now.recent import Recent, recorded
from pfscope.opening import site_of
from pfscope.server.feeder import Feeder, Ingest
from pfscope.server.housekeeper import Housekeeper
from pfscope.server.journal import Archive, Figures, Journal
from pfscope.server.judge import Candidate, Key, Verdict
from pfscope.server.limits import Limits
from pfscope.server.lookout import Lookout, Make
from pfscope.server.room import free_bytes, lack_told
from pfscope.server.tally import CountingStore, Tally
from pfscope.server.trouble import Trouble
from pfscope.store.protocol import LedgerChange, Store, StoreError
from pfscope.watch.book import Book

log = logging.getLogger("pfscope.server")
_PATIENCE_S: Final = 30.0
"""So long the end of the server waits for its housekeeping."""


class State(NamedTuple):
    """What the metrics show of an engine."""

    journal: Figures
    backlog: int
    deferred: int
    free_bytes: int
    ready: bool
    troubles: dict[str, bool]
    """Whether a part of the server has trouble."""


class Engine:
    """Takes frames from requests and sees them into the store."""

    def __init__(
        self,
        store: Store,
        make_ingest: Callable[[Store], Ingest],
        limits: Limits,
        archive: Archive | None = None,
        checkpoint_s: float = 60.0,
        housekeeper: Housekeeper | None = None,
        patience_s: float = _PATIENCE_S,
        recent: Recent | None = None,
        make_lookout: Make | None = None,
    ) -> None:
        self.limits = limits
        self.book = Book(store.directory)
        """What the watch saw."""
        self.recent = recent or Recent()
        """What was committed in the last minutes."""
        self._tally = Tally()
        self._store = CountingStore(store, self._tally, self._committed_now)
        self._lookout = (
            make_lookout(self._store, store.directory, self.book) if make_lookout else None
        )
        self._journal = Journal(store.directory / "journal", limits, archive)
        self._feeder = Feeder(
            self._journal, lambda: make_ingest(self._store), self._store, self._tally, checkpoint_s
        )
        self._servers = {line.server for line in self.ledger()}
        self._deferred = 0
        self._closed = False
        self._housekeeper = housekeeper or Housekeeper()
        self._patience_s = patience_s
        if self._lookout:
            self._lookout.start(self.recent.look()[1])
        self._feeder.start(self._journal.left())
        self._journal.start(self._feeder.add)
        self._housekeeper.start(store)

    @classmethod
    def open(
        cls, directory: Path, config: Config, limits: Limits, archive: Archive | None = None
    ) -> "Engine":
        """Open a data directory for good: it is ours until `close`."""
        from pfscope.ingest import Ingest as RealIngest
        from pfscope.ingest import Limits as IngestLimits
        from pfscope.store.embedded import open_store
        from pfscope.store.housekeeping import Rules

        rules = Rules(retention=config.retention)
        ingest_limits = IngestLimits(limits.new_series, limits.entries_per_target)
        housekeeper = Housekeeper()
        with lack_told(directory), ExitStack() as undo:
            store = open_store(directory, rules=rules, step=housekeeper.step)
            undo.callback(store.close)
            engine = cls(
                store,
                lambda counting: RealIngest(
                    counting, config, ingest_limits, wait_s=limits.reorder_s
                ),
                limits,
                archive,
                housekeeper=housekeeper,
                recent=Recent(recorded(store)),
                make_lookout=lambda store, where, book: Lookout(
                    store, where, book, site_of(config), config.alerts
                ),
            )
            undo.pop_all()
            return engine

    @property
    def store(self) -> CountingStore:
        """The open store, for those who only ask."""
        return self._store

    async def keep(self, items: Sequence[Candidate | Verdict]) -> list[Verdict]:
        """Return a verdict for each item, in order; those that are one already are counted."""
        refused = [self._known_server(item) for item in items]
        wanted = [item for item in refused if isinstance(item, Candidate)]
        answers = await self._answers(wanted)
        verdicts = [item if isinstance(item, Verdict) else next(answers) for item in refused]
        for verdict in verdicts:
            self._count(verdict)
        return verdicts

    def problems(self) -> list[str]:
        """Return why the server is not ready; nothing when it is."""
        found = [self._journal.problem()]
        if self._feeder.trouble.reason:
            found.append(f"the ingest fails: {self._feeder.trouble.reason}")
        if self._feeder.backlog > self.limits.backlog:
            found.append(f"{self._feeder.backlog} frames wait for the ingest")
        return [problem for problem in found if problem]

    def ledger(self) -> list[LedgerChange]:
        """Return every line of the ledger, in the order of stages and servers."""
        return sorted(LedgerChange(**row) for row in self._store.ledger().to_pylist())

    def state(self) -> State:
        """Return what the metrics show."""
        return State(
            self._journal.figures(),
            self._feeder.backlog,
            self._deferred,
            free_bytes(self._store.directory),
            not self.problems(),
            {trouble.part: bool(trouble.reason) for trouble in self._troubles()},
        )

    def close(self) -> None:
        """Answer what was handed in, commit the batch at hand, write a checkpoint, let go."""
        if self._closed:
            return
        self._closed = True
        self._housekeeper.stop()
        if self._lookout:
            self._lookout.close()
        self._journal.finish()
        self._feeder.close()
        self._journal.close()
        if self._housekeeper.wait(self._patience_s):
            self._store.close()
        else:
            log.warning("housekeeping does not end; the next start undoes what it was doing")

    def _troubles(self) -> tuple[Trouble, ...]:
        return (
            self._journal.trouble,
            self._journal.archive_trouble,
            self._feeder.trouble,
            self._feeder.memory_trouble,
            self._housekeeper.trouble,
            *([self._lookout.trouble] if self._lookout else []),
        )

    def _committed_now(self, batch: Mapping[str, pa.Table]) -> None:
        """Let those know who look at what was committed."""
        self.recent.take(batch)
        if self._lookout:
            self._lookout.take(batch)

    async def _answers(self, wanted: Sequence[Candidate]) -> Iterator[Verdict]:
        """Return what becomes of frames that may be kept, in their order."""
        try:
            committed = await asyncio.to_thread(self._committed, wanted)
        except StoreError:  # whether it has them cannot be told
            return (Verdict(c.key, "retry", "later", "the store fails") for c in wanted)
        fresh = [item for item in wanted if item.key not in committed]
        kept = iter(await self._kept(fresh))
        return (Verdict(c.key, "duplicate") if c.key in committed else next(kept) for c in wanted)

    async def _kept(self, fresh: Sequence[Candidate]) -> list[Verdict]:
        return await asyncio.wrap_future(self._journal.hand_in(fresh)) if fresh else []

    def _known_server(self, item: Candidate | Verdict) -> Candidate | Verdict:
        """Refuse a new name when there are too many, so that no count grows without bound."""
        if isinstance(item, Verdict) or item.key[0] in self._servers:
            return item
        if len(self._servers) >= self.limits.servers:
            return Verdict(item.key, "rejected", "servers", "too many servers are known already")
        self._servers.add(item.key[0])
        return item

    def _committed(self, candidates: Sequence[Candidate]) -> set[Key]:
        return {c.key for c in candidates if self._store.has_frame(*c.key)}

    def _count(self, verdict: Verdict) -> None:
        server = verdict.key[0] if verdict.key[0] in self._servers else ""
        if verdict.status == "retry":
            self._deferred += 1
        elif verdict.status != "stored":
            self._tally.add(server, verdict.status, verdict.code)
