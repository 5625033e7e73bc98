"""What an engine is to the miner: it has the lake's tables and a few functions, and runs questions.

Both engines have the functions declared here under the same names, so that one expression means
the same on either. Expressions are lazy; an engine runs one when its rows are asked for.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, Protocol

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import pyarrow as pa

from pfscope.errors import InputError
from pfscope.mine.schema import DATE, TABLES

RAW: dict[str, str] = {"slurm": "slurm_all"}
"""Tables of which the miner shows a part under their own name, and all under another."""


class MineError(InputError):
    """A question that the engine could not answer."""


class Known(NamedTuple):
    """A Python function under the name that expressions call it by."""

    name: str
    function: Callable[..., Any]
    takes: Sequence[dt.DataType]
    gives: dt.DataType


class Engine(Protocol):
    """Runs expressions over a lake."""

    dialect: str
    """The name that Ibis has for its SQL."""

    def table(self, name: str) -> ir.Table:
        """Return a table of the lake, one without rows too."""

    def ost_union_all(self, osts: ir.BinaryColumn) -> ir.BinaryScalar:
        """Return the union of the sets of a group."""

    def know(self, function: Known) -> None:
        """Let expressions call a Python function."""

    def batches(self, table: ir.Table) -> Iterator[pa.RecordBatch]:
        """Run an expression; the rows come in its columns' types."""

    def close(self) -> None:
        """Let go of the engine."""


def declared(name: str) -> ibis.Schema:
    """Return the columns of a table, the day among them."""
    table = TABLES[{whole: part for part, whole in RAW.items()}.get(name, name)]
    columns = dict(ibis.Schema.from_pyarrow(table.schema).items())
    if table.when:
        columns[DATE] = dt.date
    return ibis.schema(columns)


def sql_function(
    name: str, takes: Sequence[dt.DataType], gives: dt.DataType, *, grouped: bool = False
) -> Callable[..., Any]:
    """Return a function that expressions may call, and that engines have under this name."""
    declare = ibis.udf.agg.builtin if grouped else ibis.udf.scalar.builtin
    parameters = (lambda _a: ..., lambda _a, _b: ..., lambda _a, _b, _c: ...)[len(takes) - 1]
    function: Callable[..., Any] = declare(parameters, name=name, signature=(tuple(takes), gives))
    return function


_TIME: Final = dt.Timestamp("UTC")
ost_count: Final = sql_function("ost_count", [dt.binary], dt.int32)
"""How many OSTs a set has."""
ost_list: Final = sql_function("ost_list", [dt.binary], dt.Array(dt.int32))
"""The indices of a set's OSTs."""
ost_overlap: Final = sql_function("ost_overlap", [dt.binary, dt.binary], dt.int32)
"""How many OSTs two sets have in common."""
micros: Final = sql_function("pfscope_micros", [_TIME], dt.int64)
"""Microseconds from 1970 to a time."""
time_of: Final = sql_function("pfscope_time", [dt.int64], _TIME)
"""The time so many microseconds after 1970."""


def arrow_schema(table: ir.Table) -> pa.Schema:
    """Return the types of an expression's rows, the same on every engine."""
    schema: pa.Schema = table.schema().to_pyarrow()
    return schema


def told(error: Exception) -> str:
    """Return the first line of what an engine says, or what a Python function raised."""
    text = str(error)
    raised = re.findall(r"^\s*([A-Za-z_.]+(?:Error|Exception)\b.*)$", text, re.MULTILINE)
    if "Traceback" in text and raised:
        return str(raised[-1][:300])
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
