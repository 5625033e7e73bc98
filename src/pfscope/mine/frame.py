"""A lazy table and what can be asked of it: `sort group filter project join percentile bin`.

Every operation gives a new frame and runs nothing; rows are worked out when a form of them is asked
for. Expressions are texts (see `pfscope.mine.expression`) or Python functions, whose parameters
bear the names of the columns that they take.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from pfscope.errors import UsageError
from pfscope.mine import functions, joining
from pfscope.mine.aggregates import Aggregate
from pfscope.mine.engine import Engine, arrow_schema
from pfscope.mine.factored import perf_factors
from pfscope.mine.meaning import Meaning, column
from pfscope.mine.outputs import Rows, Table
from pfscope.mine.own import OwnFunction, own_function
from pfscope.mine.units import quantity

Expression = str | Aggregate | Callable[..., object]
Named = dict[str, functions.Value]
How = Literal["inner", "left", "semi", "anti"]
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Workshop(NamedTuple):
    """What frames of one miner share."""

    engine: Engine
    own: dict[str, OwnFunction]
    """Python functions that expressions may call by name."""


class Frame(Rows):
    """Rows to be: a table of the lake, or what was asked of one."""

    def __init__(self, table: ir.Table, workshop: Workshop, name: str) -> None:
        self._table, self.workshop, self.name = table, workshop, name

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return list(self._table.columns)

    @property
    def ibis(self) -> ir.Table:
        """The same as an expression of Ibis."""
        return self._table

    @property
    def sql(self) -> str:
        """The same in the SQL of its engine."""
        return str(ibis.to_sql(self._table, dialect=self.workshop.engine.dialect))

    def project(self, *names: str, **expressions: Expression) -> "Frame":
        """Return some columns, and new ones by name; `*` is all of them.

        `jobs.project("job_id", gb="bytes_written / 1GB")`
        """
        taken = [name for given in names for name in (self.columns if given == "*" else [given])]
        if not taken and not expressions:
            raise UsageError("project() needs a column")
        old = {name: column(self._table, name) for name in taken}
        new = {_checked(name): self._of_row(value) for name, value in expressions.items()}
        return self._made(self._table.select(**{**old, **new}))

    def filter(self, *conditions: Expression) -> "Frame":
        """Return the rows that meet all conditions.

        `jobs.filter("bytes_written < 1GB", "nprocs > 1")`
        """
        kept = [self._of_row(condition) for condition in conditions]
        for value, text in zip(kept, conditions, strict=True):
            functions.require_flag(value, repr(text))
        return self._made(self._table.filter(*kept)) if kept else self

    def sort(self, *names: str) -> "Frame":
        """Return the rows in order of columns, `-` for the largest first; null comes last.

        `jobs.sort("user", "-bytes_written")`
        """
        orders = []
        for name in names:
            key = column(self._table, name.removeprefix("-"))
            order = key.desc if name.startswith("-") else key.asc
            orders.append(order(nulls_first=False))
        return self._made(self._table.order_by(*orders))

    def limit(self, count: int) -> "Frame":
        """Return the first rows."""
        return self._made(self._table.limit(count))

    def group(self, *keys: str, **values: Expression) -> "Frame":
        """Return a row for each group of rows that have the same keys.

        `jobs.group("user", count="count()", p50="percentile(bytes_written, 50)")`
        """
        named = {name: column(self._table, name) for name in keys}
        made = {_checked(name): self._of_group(value) for name, value in values.items()}
        if not named and not made:
            raise UsageError("group() needs a column, or something to tell of all rows")
        if clash := next((name for name in made if name in named), None):
            raise UsageError(f"{clash!r} is a key of the group: call the other one otherwise")
        if not made:
            return self._made(self._table.select(**named).distinct())
        return self._made(_aggregated(self._table, named, made))

    def percentile(
        self, name: str, shares: float | Sequence[float] = 50, by: Sequence[str] = ()
    ) -> "Frame":
        """Return percentiles of a column as `p5`, `p50`, …, of each group if there are keys.

        `jobs.percentile("bytes_written", [5, 50, 95], by=["executable"])`
        """
        value = column(self._table, name)
        functions.require_number(value, name)
        shares = [shares] if isinstance(shares, int | float) else list(shares)
        made = {
            f"p{share:g}".replace(".", "_"): functions.percentile(value, ibis.literal(share))
            for share in shares
        }
        keys = {key: column(self._table, key) for key in by}
        return self._made(_aggregated(self._table, keys, made))

    def bin(self, name: str, bounds: Sequence[str | float], of: str) -> "Frame":
        """Return a column more that says in which bin a value is; below the first bound is null.

        `jobs.bin("workload", ["0", "1GB", "10GB"], "bytes_written")` has the bins `0..1GB`,
        `1GB..10GB` and `10GB..`; a bin has its lower bound and not its upper one.
        """
        value = self._meaning().of_row(of)
        functions.require_number(value, of)
        told = [str(bound).strip() for bound in bounds]
        edges = [quantity(text) for text in told]
        if not edges or sorted(set(edges)) != edges:
            raise UsageError(f"the bounds of bins must ascend: {', '.join(told)}")
        cases = [
            (value >= low, f"{text}..{after}")
            for low, text, after in zip(edges, told, [*told[1:], ""], strict=True)
        ]
        return self._made(self._table.mutate(**{_checked(name): ibis.cases(*reversed(cases))}))

    def join(
        self, other: "Frame", *keys: str, how: How = "inner",
        overlap: Sequence[str] | None = None, osts: Sequence[str] | bool | None = None,
        suffix: str | None = None,
    ) -> "Frame":  # fmt: skip
        """Return pairs of rows that have the same keys, overlap in time, and have an OST in common.

        `overlap` names begin and end of this frame's span and of the other's (two names: the same
        in both); spans that only touch do not overlap. `osts` names the set of OSTs of this frame
        and of the other, or the other's index of one OST; True is `osts` in both. Columns of the
        other that bear a name that is taken get a suffix: `_` and the name of its table.
        """
        if other.workshop.engine is not self.workshop.engine:
            raise UsageError("both frames of a join must be of one miner")
        wanted = joining.Join(
            tuple(keys), how, joining.spans(overlap), joining.sets(osts),
            f"_{other.name}" if suffix is None else suffix,
        )  # fmt: skip
        pairs = joining.join(self.side(), other.side(), wanted)
        return self._made(pairs)

    def extract_perf_factors(
        self, low: str = "0", high: str = "1GB/s", operation: str = "write"
    ) -> Table:
        """Return the factors of those runs of this frame whose bandwidth is from `low` to `high`.

        The frame is of runs: it has the column `log`. Bandwidth is that of the critical path.
        """
        column(self._table, "log")
        engine = self.workshop.engine
        return Table(perf_factors(engine, self._table, quantity(low), quantity(high), operation))

    def arrow_schema(self) -> pa.Schema:
        """Return names and types of the columns, the same on every engine."""
        return arrow_schema(self._table)

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Run it, and return the rows piece by piece."""
        yield from self.workshop.engine.batches(self._table)

    def __repr__(self) -> str:
        return f"<{self.name}: {', '.join(self.columns)}>"

    def _made(self, table: ir.Table) -> "Frame":
        return Frame(table, self.workshop, self.name)

    def side(self) -> joining.Side:
        """Return what a join takes."""
        return joining.Side(self._table, self.workshop.engine, self.workshop.own)

    def _meaning(self, more: OwnFunction | None = None) -> Meaning:
        own = self.workshop.own if more is None else {**self.workshop.own, more.name: more}
        return Meaning(self._table, self.workshop.engine, own)

    def _of_row(self, value: Expression) -> functions.Value:
        if isinstance(value, Aggregate):
            raise UsageError(f"{value.text} is of a group of rows: ask for it in group(…)")
        if isinstance(value, str):
            return self._meaning().of_row(value)
        own, call = self._called(value)
        return self._meaning(own).of_row(call)

    def _of_group(self, value: Expression) -> functions.Value:
        if isinstance(value, str | Aggregate):
            text = value if isinstance(value, str) else value.text
            return self._meaning().of_group(text)
        own, call = self._called(value)
        return self._meaning(own).of_group(call)

    def _called(self, function: Callable[..., object]) -> tuple[OwnFunction, str]:
        """Return a Python function, and a text that calls it with the columns it names."""
        if not callable(function):
            raise UsageError(f"{function!r} is no expression: write a text or give a function")
        own = own_function(function)
        names = list(inspect.signature(function).parameters)
        return own, f"{own.name}({', '.join(names)})"


def _aggregated(table: ir.Table, keys: Named, made: Named) -> ir.Table:
    return (table.group_by(**keys) if keys else table).aggregate(**made)


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot be the name of a column: letters, digits and _")
    return name
