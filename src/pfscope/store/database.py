"""The DuckDB file: opened with its settings, used through cursors, one for each piece of work.

Nothing is ever executed on the connection that is opened first: cursors are made from it, so that
threads do not disturb each other. SQL can reach no file outside `DIR/parquet`.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import duckdb
from duckdb import DuckDBPyConnection

from pfscope.errors import InputError
from pfscope.store.layout import DATABASE, PARQUET, SCRATCH, quoted
from pfscope.store.protocol import StoreError

CHECKPOINT_MB: Final = 64
"""So large DuckDB's log becomes before it goes into the file; DuckDB's own default is 16.

Each checkpoint writes the last, unfilled blocks of every table anew: rarer ones write less. Beyond
this size little is gained, and after a crash the log is read again before the store opens.
"""
_PATIENCE_S = 60
"""So long the work that a broken database was doing may take to notice."""


@dataclass(frozen=True, slots=True)
class Resources:
    """What the database may use of the machine."""

    memory_mb: int = 1024
    """Larger sorts and joins go through `DIR/tmp`."""
    threads: int | None = None
    """None: one for each core."""


class Database:
    """An open database; every method may be called from any thread.

    DuckDB gives itself up when a checkpoint fails, as on a full disk: then the file is opened anew
    for whoever comes next, as after a crash.
    """

    def __init__(self, directory: Path, resources: Resources, *, read_only: bool = False) -> None:
        self._path = directory / DATABASE
        self._read_only = read_only
        self._settings = [
            "TimeZone = 'UTC'",
            f"memory_limit = '{resources.memory_mb}MB'",
            f"checkpoint_threshold = '{CHECKPOINT_MB}MiB'",
            f"temp_directory = {quoted(directory / SCRATCH)}",
            f"allowed_directories = [{quoted(directory / PARQUET)}, {quoted(directory / SCRATCH)}]",
            "enable_external_access = false",
        ]
        if resources.threads:
            self._settings.append(f"threads = {resources.threads}")
        self._guard = threading.Condition()
        self._lent = 0
        self._broken = False
        try:
            self._root = self._connect()
        except duckdb.Error as error:
            raise InputError(f"{self._path} cannot be opened: {first_line(error)}") from error

    @contextmanager
    def cursor(self) -> Iterator[DuckDBPyConnection]:
        """Lend a cursor; what fails in the database comes out as a `StoreError`."""
        self._enter()
        try:
            with self._root.cursor() as cursor:
                yield cursor
        except duckdb.Error as error:
            self._broken = self._broken or isinstance(error, duckdb.FatalException)
            raise StoreError(f"the store failed: {first_line(error)}") from error
        finally:
            with self._guard:
                self._lent -= 1
                self._guard.notify_all()

    @contextmanager
    def transaction(self) -> Iterator[DuckDBPyConnection]:
        """Lend a cursor within a transaction: committed at the end, undone on any error."""
        with self.cursor() as cursor:
            cursor.execute("BEGIN TRANSACTION")
            try:
                yield cursor
                self._finish(cursor)
            except BaseException:
                # A database that failed badly has undone it by itself, and says so here.
                with suppress(duckdb.Error):
                    cursor.execute("ROLLBACK")
                raise

    def _finish(self, cursor: DuckDBPyConnection) -> None:
        try:
            cursor.execute("COMMIT")
        except duckdb.Error:
            # DuckDB 2.0 lost rows of commits that came after one that had found no room for its
            # log: what it remembers of its tables is not to be trusted any more, the file is.
            self._broken = True
            raise

    def close(self) -> None:
        """Let go of the file; what was committed is in it or in its log."""
        self._root.close()

    def _enter(self) -> None:
        with self._guard:
            if not self._guard.wait_for(lambda: not self._broken or not self._lent, _PATIENCE_S):
                raise StoreError("the store failed, and somebody still reads what it was")
            if self._broken:
                self._reopen()
            self._lent += 1

    def _reopen(self) -> None:
        self._root.close()
        try:
            self._root = self._connect()
        except duckdb.Error as error:
            raise StoreError(f"the store failed and stays shut: {first_line(error)}") from error
        self._broken = False

    def _connect(self) -> DuckDBPyConnection:
        root = duckdb.connect(self._path, read_only=self._read_only)
        confined = root.execute("SELECT current_setting('enable_external_access')").fetchone()
        if confined != (False,):  # else an earlier reader in this process has made the settings
            for setting in self._settings:
                root.execute(f"SET GLOBAL {setting}")
        return root


def first_line(error: BaseException) -> str:
    """Return what an error of the database says, without its drawings."""
    return str(error).partition("\n")[0]
