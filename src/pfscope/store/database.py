"""The DuckDB file: opened with its settings, used through cursors, one for each piece of work.

Nothing is ever executed on the connection that is opened first: cursors are made from it, so that
threads do not disturb each other. SQL can reach no file outside `DIR/parquet`.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from pfscope.errors import InputError
from pfscope.store.layout import DATABASE, PARQUET, SCRATCH, quoted
from pfscope.store.protocol import StoreError


@dataclass(frozen=True, slots=True)
class Resources:
    """What the database may use of the machine."""

    memory_mb: int = 1024
    """Larger sorts and joins go through `DIR/tmp`."""
    threads: int | None = None
    """None: one for each core."""


class Database:
    """An open database; every method may be called from any thread."""

    def __init__(self, directory: Path, resources: Resources, *, read_only: bool = False) -> None:
        path = directory / DATABASE
        try:
            self._root = duckdb.connect(path, read_only=read_only)
        except duckdb.Error as error:
            raise InputError(f"{path} cannot be opened: {first_line(error)}") from error
        if self._is_set_up():  # by an earlier reader in this process
            return
        settings = [
            "TimeZone = 'UTC'",
            f"memory_limit = '{resources.memory_mb}MB'",
            f"temp_directory = {quoted(directory / SCRATCH)}",
            f"allowed_directories = [{quoted(directory / PARQUET)}, {quoted(directory / SCRATCH)}]",
            "enable_external_access = false",
        ]
        if resources.threads:
            settings.append(f"threads = {resources.threads}")
        for setting in settings:
            self._root.execute(f"SET GLOBAL {setting}")

    def _is_set_up(self) -> bool:
        found = self._root.execute("SELECT current_setting('enable_external_access')").fetchone()
        return found == (False,)

    @contextmanager
    def cursor(self) -> Iterator[DuckDBPyConnection]:
        """Lend a cursor; what fails in the database comes out as a `StoreError`."""
        try:
            with self._root.cursor() as cursor:
                yield cursor
        except duckdb.Error as error:
            raise StoreError(f"the store failed: {first_line(error)}") from error

    @contextmanager
    def transaction(self) -> Iterator[DuckDBPyConnection]:
        """Lend a cursor within a transaction: committed at the end, undone on any error."""
        with self.cursor() as cursor:
            cursor.execute("BEGIN TRANSACTION")
            try:
                yield cursor
                cursor.execute("COMMIT")
            except BaseException:
                # A database that failed badly has undone it by itself, and says so here.
                with suppress(duckdb.Error):
                    cursor.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Let go of the file; what was committed is in it or in its log."""
        self._root.close()


def first_line(error: BaseException) -> str:
    """Return what an error of the database says, without its drawings."""
    return str(error).partition("\n")[0]
