"""LMT's data as rows, from files of three forms: its tables in SQLite, TOKIO's HDF5 and H5LMT."""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, Literal

import pyarrow as pa

from pfscope.errors import InputError
from pfscope.logs.lmt_hdf5 import iter_hdf5
from pfscope.logs.lmt_tables import iter_tables

Form = Literal["sqlite", "hdf5"]
Period = tuple[int | None, int | None]
_MAGIC: Final[dict[bytes, Form]] = {b"SQLite format 3\0": "sqlite", b"\x89HDF\r\n\x1a\n": "hdf5"}


def form_of(path: Path) -> Form:
    """Return what a file is; InputError: nothing of LMT's."""
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror}") from error
    for magic, form in _MAGIC.items():
        if head.startswith(magic):
            return form
    raise InputError("neither a database of SQLite nor HDF5: no data of LMT")


def iter_lmt(
    path: Path, *, time_zone: str = "UTC", missing: Counter[str], period: Period = (None, None)
) -> Iterator[pa.Table]:
    """Yield the rows of a file (`lmt_rows.ROWS`); what was left out is counted in `missing`.

    `time_zone` is that of the clock that LMT's tables have; HDF5 has instants.
    """
    if form_of(path) == "hdf5":
        yield from iter_hdf5(path, missing)
        return
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as base:

            def ask(query: str) -> Sequence[Sequence[Any]]:
                return base.execute(query).fetchall()

            yield from iter_tables(ask, time_zone, missing, period)
    except sqlite3.Error as error:
        raise InputError(f"this database is not LMT's, or damaged: {error}") from error
