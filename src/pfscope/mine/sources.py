"""Where the tables of a question about runs come from: a lake, or one log that is read on the spot.

A log goes the same way as any other, through a lake of its own that is gone afterwards.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pyarrow as pa

from pfscope.errors import InputError
from pfscope.mine.lake import Lake, writing

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from pfscope.mine.engine import Engine


class Tables:
    """The tables of a lake, and the engine that runs expressions over them."""

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine

    def table(self, name: str) -> "ir.Table":
        """Return a table as an expression."""
        return self._engine.table(name)

    def rows(self, expression: "ir.Table") -> pa.Table:
        """Return the rows of an expression."""
        from pfscope.mine.engine import arrow_schema

        return pa.Table.from_batches(self._engine.batches(expression), arrow_schema(expression))


@contextmanager
def open_lake(path: Path) -> Iterator[Tables]:
    """Open a lake for questions."""
    from pfscope.mine.engine_duckdb import DuckDBEngine

    engine = DuckDBEngine(Lake(path), None)
    try:
        yield Tables(engine)
    finally:
        engine.close()


@contextmanager
def open_log(path: Path) -> Iterator[Tables]:
    """Read a Darshan log and open what is in it; InputError: it cannot be read."""
    from pfscope.mine.darshan_import import write_logs
    from pfscope.mine.inputs import Found, Period, digest

    try:
        found = Found(str(path), path.stat().st_size, 0, digest(str(path)))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    with TemporaryDirectory(prefix="pfscope-") as folder:
        with writing(Path(folder, "lake")) as lake:
            (record,) = write_logs(lake.staging("log"), "log", [found], Period())
            if record.state == "quarantined":
                raise InputError(f"{path} cannot be read: {record.reason}")
            lake.commit("log")
        with open_lake(lake.path) as tables:
            yield tables
