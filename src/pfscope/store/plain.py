"""Keeps a Parquet tree readable without the database: its small tables, written beside the parts.

Each file is complete whenever it is there, and as old as the latest day that was written.
"""

from pathlib import Path

from pfscope.store.database import Database
from pfscope.store.layout import PARQUET, UNFINISHED, quoted

SMALL = ("operations", "ledger")


def write_dimensions(directory: Path, database: Database) -> None:
    """Write the tables that are not kept by day; what is there is replaced at once."""
    for table in SMALL:
        folder = directory / PARQUET / table
        folder.mkdir(exist_ok=True)
        path = folder / f"{table}.parquet"
        unfinished = path.with_name(path.name + UNFINISHED)
        with database.cursor() as cursor:
            cursor.execute(f"COPY (FROM {table}) TO {quoted(unfinished)} (FORMAT parquet)")
        unfinished.rename(path)
