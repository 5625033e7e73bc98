"""What the rest of pfscope asks of a store, whichever database is behind it.

A commit is all or nothing and survives the end of the machine; a query never changes anything.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol

import pyarrow as pa

from pfscope.errors import PfscopeError


class StoreError(PfscopeError):
    """The database failed (a full disk, damage): nothing of what was asked for was done."""


class CommitDoubtError(StoreError):
    """The database failed so that it cannot even tell whether the batch was kept: reopen it."""


class LedgerChange(NamedTuple):
    """What to add to one line of the ledger."""

    stage: str
    server: str
    outcome: str
    reason: str
    frames: int
    entries: int


class Store(Protocol):
    """A place for usage; `commit` has one caller at a time, everything else may have many."""

    directory: Path

    def next_series(self) -> int:
        """Return the first number that no series has."""

    def operations(self) -> list[tuple[str, str]]:
        """Return (name, unit) of every operation, by number."""

    def committed_frames(self, since_us: int) -> set[tuple[str, str, int]]:
        """Return (server, epoch, sequence) of frames whose time is not before."""

    def has_frame(self, server: str, epoch: str, sequence: int) -> bool:
        """Tell whether the frame was committed."""

    def commit(self, batch: Mapping[str, pa.Table], ledger: Sequence[LedgerChange]) -> None:
        """Keep rows of any tables of the schema and count, in one durable transaction."""

    def ledger(self) -> pa.Table:
        """Return the ledger's lines, summed."""

    def query(self, sql: str, parameters: Sequence[object] = ()) -> pa.Table:
        """Run one SELECT over all tables of the schema."""

    def stream(
        self, sql: str, parameters: Sequence[object] = (), rows: int = 131_072
    ) -> AbstractContextManager[pa.RecordBatchReader]:
        """Run one SELECT whose result need not fit in memory."""

    def maintain(self, now_us: int) -> None:
        """Do the housekeeping that is due."""

    def close(self) -> None:
        """Make everything safe and let go of the directory."""
