"""One SELECT in SQL over the lake's tables: it can read them and nothing else, and change nothing.

DuckDB may open the lake's files alone while it answers; time and memory are bounded.
"""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from pfscope.errors import InputError, UsageError
from pfscope.mine.engine import RAW, told
from pfscope.mine.engine_duckdb import connect, quoted
from pfscope.mine.lake import Lake
from pfscope.mine.meaning import nearest
from pfscope.mine.outputs import Rows
from pfscope.mine.schema import TABLES

_BATCH = 1 << 14


@dataclass(frozen=True)
class Bounds:
    """What a question may take."""

    seconds: float = 300
    memory_mb: int = 4096
    rows: int = 1_000_000


class Answer(Rows):
    """The rows of a question, as they come."""

    def __init__(self, rows: duckdb.DuckDBPyRelation, bounds: Bounds) -> None:
        self._rows, self._bounds = rows, bounds
        self.cut = False
        """There were more rows than the bound."""
        self._reader = rows.to_arrow_reader(_BATCH)

    def arrow_schema(self) -> pa.Schema:
        """Return names and types of the columns."""
        return self._reader.schema

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Return the rows, up to the bound."""
        left = self._bounds.rows
        for batch in self._reader:
            yield batch[:left]
            left -= batch.num_rows
            if left < 0:
                self.cut = True
                return


@contextmanager
def asked(lake: Path, question: str, bounds: Bounds) -> Iterator[Answer]:
    """Ask, and lend the answer."""
    place = Lake(lake)
    with connect(place, None) as connection:
        connection.execute(_last_records())
        _confine(connection, place, bounds)
        _require_reading(connection, question)
        timer = threading.Timer(bounds.seconds, connection.interrupt)
        timer.daemon = True
        timer.start()
        try:
            yield Answer(connection.sql(question), bounds)
        except duckdb.InterruptException:
            raise InputError(f"no answer within {bounds.seconds:g} s: see --timeout") from None
        except (duckdb.CatalogException, duckdb.BinderException) as error:
            raise InputError(_about_names(error)) from error
        except duckdb.Error as error:
            raise InputError(f"DuckDB could not answer: {told(error)}") from error
        finally:
            timer.cancel()


def _last_records() -> str:
    """Return a view of the last record of each job, as the miner has it."""
    order = '"submit" DESC NULLS LAST, "start" DESC NULLS LAST, "end" DESC NULLS LAST, "log"'
    return "".join(
        f"CREATE VIEW {name} AS SELECT * FROM {whole} "  # noqa: S608 - names are constants
        f"QUALIFY row_number() OVER (PARTITION BY job_id ORDER BY {order}) = 1;"
        for name, whole in RAW.items()
    )


def _confine(connection: duckdb.DuckDBPyConnection, lake: Lake, bounds: Bounds) -> None:
    """Let SQL reach the files of the lake's tables, and change no setting."""
    for setting in (
        f"memory_limit = '{bounds.memory_mb:d}MB'",
        f"allowed_directories = [{quoted(str(lake.path) + '/')}]",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")


def _require_reading(connection: duckdb.DuckDBPyConnection, question: str) -> None:
    try:
        statements = connection.extract_statements(question)
    except duckdb.Error as error:
        raise UsageError(f"that is no SQL: {told(error)}") from None
    if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
        raise UsageError("one SELECT is what can be asked: the lake is for reading")


def _about_names(error: Exception) -> str:
    """Return what is said of a name that is not known, and which name is nearest."""
    text = str(error)
    if table := re.search(r"Table with name (\S+) does not exist", text):
        return f"the lake has no table {table[1]!r}{nearest(table[1], [*TABLES, *RAW.values()])}"
    if column := re.search(r'Referenced column "([^"]*)" not found', text):
        candidates = re.findall(r'"([^"]+)"', text.partition("Candidate bindings:")[2])
        return f"there is no column {column[1]!r}{nearest(column[1], candidates)}"
    return f"DuckDB could not answer: {told(error)}"
