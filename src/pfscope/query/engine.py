"""Where a question is answered: any engine that has the store's tables under their names."""

from collections.abc import Hashable, Sequence
from typing import Final, Protocol

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from pfscope.query.prepared import Build, Prepared
from pfscope.query.window import EvenSteps

_WIDE: Final = pa.decimal128(38, 0)


class Engine(Protocol):
    """Turns an expression over the store's tables into rows."""

    def run(self, question: ir.Table) -> pa.Table:
        """Return the rows."""

    def run_prepared(
        self, key: Hashable, build: Build, steps: EvenSteps, horizon_us: int | None
    ) -> pa.Table:
        """Return the rows of a question that is asked again and again for other times."""


class Queryable(Protocol):
    """What is asked of a store: one SELECT, all rows."""

    def query(self, sql: str, parameters: Sequence[object] = ()) -> pa.Table:
        """Return the rows."""


class StoreEngine:
    """Answers from a store, in the SQL of its database."""

    def __init__(
        self, store: Queryable, dialect: str = "duckdb", prepared: Prepared | None = None
    ) -> None:
        self._store = store
        self.prepared = prepared or Prepared(dialect)
        """What was compiled: engines of one dialect can share it."""

    def run(self, question: ir.Table) -> pa.Table:
        """Return the rows."""
        return _whole(self._store.query(self.prepared.compiled(question)))

    def run_prepared(
        self, key: Hashable, build: Build, steps: EvenSteps, horizon_us: int | None
    ) -> pa.Table:
        """Return the rows, without compiling a question anew."""
        return _whole(self._store.query(self.prepared.sql(key, build, steps, horizon_us)))


class BackendEngine:
    """Answers from what Ibis is connected to: Spark over the Parquet tree, a shared database."""

    def __init__(self, backend: ibis.BaseBackend) -> None:
        self._backend = backend

    def run(self, question: ir.Table) -> pa.Table:
        """Return the rows."""
        return self._backend.to_pyarrow(question)

    def run_prepared(
        self, _key: Hashable, build: Build, steps: EvenSteps, horizon_us: int | None
    ) -> pa.Table:
        """Return the rows."""
        return self.run(build(steps, horizon_us))


def _whole(rows: pa.Table) -> pa.Table:
    """Return sums of integers as integers: databases widen them to decimals."""
    fields = [
        field.with_type(pa.int64()) if field.type == _WIDE else field for field in rows.schema
    ]
    return rows.cast(pa.schema(fields))
