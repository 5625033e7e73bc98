"""The store's tables as Ibis tables that are bound to no engine, and their times as numbers."""

from datetime import UTC, datetime, timedelta
from typing import Final

import ibis
import ibis.expr.types as ir

from pfscope.store.schema import TABLES

_SECOND_US: Final = 1_000_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNBOUND: Final = {
    name: ibis.table(ibis.Schema.from_pyarrow(schema), name=name) for name, schema in TABLES.items()
}


def table(name: str) -> ir.Table:
    """Return a table of the schema."""
    return _UNBOUND[name]


def moment(time_us: int) -> ir.TimestampScalar:
    """Return the literal of a time, given as microseconds since 1970."""
    return ibis.literal(iso_text(time_us)).cast("timestamp('UTC')")


def iso_text(time_us: int) -> str:
    """Return a time as it stands in literals."""
    return (_EPOCH + timedelta(microseconds=time_us)).isoformat(timespec="microseconds")


def micros(time: ir.Column) -> ir.IntegerColumn:
    """Return times as microseconds since 1970."""
    # Calendars of time zones are slow in arithmetic; the session's zone is UTC everywhere.
    return time.cast("timestamp").delta(ibis.timestamp("1970-01-01"), unit="microsecond")


def instant(time_us: ir.IntegerColumn, near_us: int) -> ir.TimestampColumn:
    """Undo `micros`, of times that are within decades of another one."""
    # In two parts, as engines multiply intervals by 32 bits.
    offset = time_us - near_us
    whole = (offset // _SECOND_US).cast("int64")
    rest = offset - whole * _SECOND_US
    seconds = ibis.interval(seconds=1) * whole + ibis.interval(microseconds=1) * rest
    near = ibis.literal(iso_text(near_us)).cast("timestamp('UTC')").cast("timestamp")
    return (near + seconds).cast("timestamp('UTC')")
