"""What the receiver counts for the ledger: frames in, and what became of each.

In every line set received = stored + duplicate + rejected + dropped, because an outcome is counted
together with its receipt. A frame that is stored here is counted in the very transaction in which
the ingest counts it as received, so that a crash between journal and store counts it once. A frame
that was told to come later was not received.
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

import pyarrow as pa

from pfscope.store.protocol import LedgerChange, Store

log = logging.getLogger("pfscope.server")
STAGE: Final = "receive"
INGEST_STAGE: Final = "ingest"


class Tally:
    """Counts that are not in the store yet."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._counts: Counter[tuple[str, str, str]] = Counter()

    def add(self, server: str, outcome: str, reason: str, frames: int = 1) -> None:
        """Count frames that were received and not stored."""
        with self._guard:
            self._counts[server, outcome, reason] += frames
            self._counts[server, "received", ""] += frames

    def changes(self) -> list[LedgerChange]:
        """Return the counts as ledger lines."""
        with self._guard:
            return [LedgerChange(STAGE, *key, n, 0) for key, n in self._counts.items()]

    def written(self, changes: Iterable[LedgerChange]) -> None:
        """Take off what is in the store now."""
        with self._guard:
            for change in changes:
                key = (change.server, change.outcome, change.reason)
                self._counts[key] -= change.frames
                if not self._counts[key]:
                    del self._counts[key]


class CountingStore:
    """A store whose every commit carries the receiver's counts along; who watches is told of it."""

    def __init__(
        self,
        store: Store,
        tally: Tally,
        watch: Callable[[Mapping[str, pa.Table]], None] = lambda _batch: None,
    ) -> None:
        self._store = store
        self._tally = tally
        self._watch = watch
        self.directory: Path = store.directory

    def commit(self, batch: Mapping[str, pa.Table], ledger: Sequence[LedgerChange]) -> None:
        """Commit rows and counts, ours included."""
        ours = self._tally.changes()
        self._store.commit(batch, [*ledger, *_stored(ledger), *ours])
        self._tally.written(ours)
        try:
            self._watch(batch)
        except Exception:
            log.exception("what was committed could not be shown")

    def flush(self) -> None:
        """Write the counts that wait, if there are any."""
        if self._tally.changes():
            self.commit({}, [])

    def next_series(self) -> int:
        """Return the first number that no series has."""
        return self._store.next_series()

    def operations(self) -> list[tuple[str, str]]:
        """Return (name, unit) of every operation, by number."""
        return self._store.operations()

    def committed_frames(self, since_us: int) -> set[tuple[str, str, int]]:
        """Return (server, epoch, sequence) of frames whose time is not before."""
        return self._store.committed_frames(since_us)

    def has_frame(self, server: str, epoch: str, sequence: int) -> bool:
        """Tell whether the frame was committed."""
        return self._store.has_frame(server, epoch, sequence)

    def ledger(self) -> pa.Table:
        """Return the ledger's lines, those that wait to be written included."""
        waiting = pa.Table.from_pylist([change._asdict() for change in self._tally.changes()])
        stored = self._store.ledger()
        if not waiting.num_rows:
            return stored
        both = pa.concat_tables([stored, waiting.select(stored.column_names).cast(stored.schema)])
        keys = ["stage", "server", "outcome", "reason"]
        summed = both.group_by(keys).aggregate([("frames", "sum"), ("entries", "sum")])
        return summed.rename_columns([*keys, "frames", "entries"]).select(stored.column_names)

    def query(self, sql: str, parameters: Sequence[object] = ()) -> pa.Table:
        """Run one SELECT over all tables of the schema."""
        return self._store.query(sql, parameters)

    def stream(
        self, sql: str, parameters: Sequence[object] = (), rows: int = 131_072
    ) -> AbstractContextManager[pa.RecordBatchReader]:
        """Run one SELECT whose result need not fit in memory."""
        return self._store.stream(sql, parameters, rows)

    def maintain(self, now_us: int) -> None:
        """Do the housekeeping that is due."""
        self._store.maintain(now_us)

    def close(self) -> None:
        """Make everything safe and let go of the directory."""
        self._store.close()


def _stored(ledger: Sequence[LedgerChange]) -> list[LedgerChange]:
    """What the ingest takes in is what the receiver stored."""
    return [
        LedgerChange(STAGE, change.server, outcome, "", change.frames, 0)
        for change in ledger
        if change.stage == INGEST_STAGE and change.outcome == "received" and change.frames
        for outcome in ("received", "stored")
    ]
