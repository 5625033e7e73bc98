"""Brings a store that an older pfscope made up to the schema of today, one version at a time.

All steps run in one transaction: a crash leaves the old store. Parquet parts are never rewritten
for it; what a later version added is null in them (`layout.ADDED`).
"""
# ruff: noqa: S608 - what is put together here are names of the schema, numbers and quoted paths

from collections.abc import Callable
from pathlib import Path
from typing import Final

from duckdb import DuckDBPyConnection

from pfscope.errors import InputError
from pfscope.store import parts
from pfscope.store.layout import DAILY, create_table
from pfscope.store.schema import TABLES, VERSION

KEPT_WHOLE: Final = ("operations",)
"""Tables that are small and stay in DuckDB as they are."""


def create(cursor: DuckDBPyConnection) -> None:
    """Make the tables of an empty store."""
    cursor.execute("CREATE SCHEMA hot")
    for table in DAILY:
        cursor.execute(create_table(table, f"hot.{table}"))
    for table in KEPT_WHOLE:
        cursor.execute(create_table(table, table))
    # Changes are appended and summed when read, so that no two commits touch the same line.
    cursor.execute(create_table("ledger", "ledger_changes"))
    keys = '"stage", "server", "outcome", "reason"'
    cursor.execute(
        f"CREATE VIEW ledger AS SELECT {keys}, sum(frames)::BIGINT AS frames, "
        f"sum(entries)::BIGINT AS entries FROM ledger_changes GROUP BY ALL ORDER BY {keys}"
    )
    cursor.execute("CREATE TABLE commits (number BIGINT NOT NULL)")
    cursor.execute("INSERT INTO commits VALUES (0)")
    cursor.execute(parts.CREATE)
    cursor.execute("CREATE SEQUENCE part_number")
    cursor.execute(
        "CREATE TABLE store (version INTEGER NOT NULL, directory VARCHAR NOT NULL, "
        "next_series INTEGER NOT NULL)"
    )
    cursor.execute("INSERT INTO store VALUES (?, '', 0)", [VERSION])


def version_of(cursor: DuckDBPyConnection) -> int | None:
    """Return the version of the schema; None: the database is empty."""
    names = "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'"
    present = {name for (name,) in cursor.execute(names).fetchall()}
    if not present:
        return None
    found = cursor.execute("SELECT version FROM store").fetchone() if "store" in present else None
    if not found:
        raise InputError("this DuckDB file was not made by pfscope")
    return int(found[0])


def require_current(cursor: DuckDBPyConnection, version: int | None, directory: Path) -> None:
    """Refuse to only read what must be written to first."""
    found = cursor.execute("SELECT directory FROM store").fetchone() if version else None
    if version != VERSION or not found or found[0] != str(directory):
        raise InputError(
            f"{directory} was moved here or made by another version of pfscope: open it once for "
            "writing, as `pfscope doctor` does"
        )


def migrate(cursor: DuckDBPyConnection, version: int) -> None:
    """Take every step from `version` to the schema of today."""
    if version > VERSION:
        raise InputError(
            f"this store was made by a later pfscope (schema {version}, known is {VERSION}): "
            "upgrade pfscope"
        )
    for step in range(version, VERSION):
        STEPS[step](cursor)
    cursor.execute("UPDATE store SET version = ?", [VERSION])


def _clock_steps(cursor: DuckDBPyConnection) -> None:
    # A view names the columns of its table, and is made anew after the migration.
    cursor.execute("DROP VIEW frames")
    cursor.execute("ALTER TABLE hot.frames ADD COLUMN clock_step_us BIGINT")


def _servers_and_jobs(cursor: DuckDBPyConnection) -> None:
    cursor.execute("DROP VIEW IF EXISTS quality")
    cursor.execute("ALTER TABLE hot.quality ADD COLUMN server VARCHAR")
    cursor.execute(create_table("jobs", "hot.jobs"))


STEPS: Final[dict[int, Callable[[DuckDBPyConnection], None]]] = {
    0: _clock_steps,
    1: _servers_and_jobs,
}
"""The step that leads away from each version."""

assert set(STEPS) == set(range(VERSION))
assert set(TABLES) == {*DAILY, *KEPT_WHOLE, "ledger"}
