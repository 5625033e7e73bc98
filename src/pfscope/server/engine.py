"""The engine: journal, ingest and store of one data directory, behind the few calls HTTP needs.

`keep` answers when every frame has its verdict, and a frame that is `stored` is durable by then.
"""

import asyncio
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pfscope.config import Config
from pfscope.server.feeder import Feeder, Ingest
from pfscope.server.journal import Archive, Figures, Journal
from pfscope.server.judge import Candidate, Key, Verdict
from pfscope.server.limits import Limits
from pfscope.server.tally import CountingStore, Tally
from pfscope.store.protocol import LedgerChange, Store


class State(NamedTuple):
    """What the metrics show of an engine."""

    journal: Figures
    backlog: int
    deferred: int
    free_bytes: int
    ready: bool


class Engine:
    """Takes frames from requests and sees them into the store."""

    def __init__(
        self,
        store: Store,
        make_ingest: Callable[[Store], Ingest],
        limits: Limits,
        archive: Archive | None = None,
        checkpoint_s: float = 60.0,
    ) -> None:
        self.limits = limits
        self._tally = Tally()
        self._store = CountingStore(store, self._tally)
        self._journal = Journal(store.directory / "journal", limits, archive)
        self._feeder = Feeder(
            self._journal, lambda: make_ingest(self._store), self._store, self._tally, checkpoint_s
        )
        self._servers = {line.server for line in self.ledger()}
        self._deferred = 0
        self._closed = False
        self._feeder.start(self._journal.left())
        self._journal.start(self._feeder.add)

    @classmethod
    def open(
        cls, directory: Path, config: Config, limits: Limits, archive: Archive | None = None
    ) -> "Engine":
        """Open a data directory for good: it is ours until `close`."""
        from pfscope.ingest import Ingest as RealIngest
        from pfscope.ingest import Limits as IngestLimits
        from pfscope.store.embedded import open_store
        from pfscope.store.housekeeping import Rules

        store = open_store(directory, rules=Rules(retention=config.retention))
        try:
            ingest_limits = IngestLimits(limits.new_series)
            return cls(
                store,
                lambda counting: RealIngest(
                    counting, config, ingest_limits, wait_s=limits.reorder_s
                ),
                limits,
                archive,
            )
        except BaseException:
            store.close()
            raise

    async def keep(self, items: Sequence[Candidate | Verdict]) -> list[Verdict]:
        """Return a verdict for each item, in order; those that are one already are counted."""
        refused = [self._known_server(item) for item in items]
        wanted = [item for item in refused if isinstance(item, Candidate)]
        committed = await asyncio.to_thread(self._committed, wanted)
        fresh = [item for item in wanted if item.key not in committed]
        kept = await asyncio.wrap_future(self._journal.hand_in(fresh)) if fresh else []
        verdicts = list(_merged(refused, committed, kept))
        for verdict in verdicts:
            self._count(verdict)
        return verdicts

    def problems(self) -> list[str]:
        """Return why the server is not ready; nothing when it is."""
        found = [self._journal.problem(), self._feeder.trouble]
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
            shutil.disk_usage(self._store.directory).free,
            not self.problems(),
        )

    def close(self) -> None:
        """Answer what was handed in, commit the batch at hand, write a checkpoint, let go."""
        if self._closed:
            return
        self._closed = True
        self._journal.finish()
        self._feeder.close()
        self._journal.close()
        self._store.close()

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


def _merged(
    items: Sequence[Candidate | Verdict], committed: set[Key], kept: Sequence[Verdict]
) -> Iterator[Verdict]:
    answers = iter(kept)
    for item in items:
        if isinstance(item, Verdict):
            yield item
        elif item.key in committed:
            yield Verdict(item.key, "duplicate")
        else:
            yield next(answers)
