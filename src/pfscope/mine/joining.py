"""Pairs of rows of two tables: by keys, by spans of time that overlap, by OSTs in common.

A pair appears once, however many OSTs it shares: where sets are taken apart to be joined, the pair
counts at its lowest common OST alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import ibis.expr.types as ir

from pfscope.errors import UsageError
from pfscope.mine import engine as functions
from pfscope.mine.engine import Engine
from pfscope.mine.meaning import Meaning, column, kind_of
from pfscope.mine.own import OwnFunction

_BEGIN: Final = "join_begin"
_END: Final = "join_end"
_OST: Final = "join_ost"
_SET: Final = "join_set"
_LIST: Final = "join_list"
_HELPERS: Final = (_BEGIN, _END, _OST, _SET, _LIST)
_OTHER: Final = "_other"


class Side(NamedTuple):
    """One of two tables, and what its expressions may call."""

    table: ir.Table
    engine: Engine
    own: Mapping[str, OwnFunction]

    def value(self, text: str) -> Any:
        """Return what a text means for a row."""
        return Meaning(self.table, self.engine, self.own).of_row(text)

    def more(self, **columns: Any) -> "Side":
        """Return the same with helping columns."""
        return self._replace(table=self.table.mutate(**columns))


class Join(NamedTuple):
    """Which pairs are wanted."""

    keys: tuple[str, ...]
    how: str
    spans: tuple[str, str, str, str] | None
    sets: tuple[str, str] | None
    suffix: str


def spans(given: Sequence[str] | None) -> tuple[str, str, str, str] | None:
    """Read begin and end of this table's spans and of the other's."""
    if given is None:
        return None
    if isinstance(given, str) or len(given) not in (2, 4):
        raise UsageError("overlap is (begin, end) or (begin, end, other's begin, other's end)")
    a, b, c, d = (*given, *given)[:4]
    return a, b, c, d


def sets(given: Sequence[str] | bool | None) -> tuple[str, str] | None:
    """Read which columns hold sets of OSTs."""
    if not given:
        return None
    if given is True:
        return "osts", "osts"
    if isinstance(given, str) or len(given) != 2:
        raise UsageError("osts is True, or (this frame's set, the other's set or index)")
    return given[0], given[1]


def join(left: Side, right: Side, wanted: Join) -> ir.Table:
    """Return the pairs."""
    if wanted.how not in ("inner", "left", "semi", "anti"):
        raise UsageError(f"how is inner, left, semi or anti, not {wanted.how!r}")
    if not (wanted.keys or wanted.spans or wanted.sets):
        raise UsageError("a join needs keys, overlap or osts: a column that both frames have")
    right = right._replace(table=right.table.view())
    for key in wanted.keys:
        _same_kind(key, column(left.table, key), column(right.table, key))
    if wanted.sets:
        left, right = _with_sets(left, right, wanted)
    if wanted.spans:
        left, right = _with_spans(left, right, wanted.spans)
    pairs = _pairs(left, right, wanted)
    return pairs.drop(*[name for name in pairs.columns if name.startswith(_HELPERS)])


def _pairs(left: Side, right: Side, wanted: Join) -> ir.Table:
    a, b = left.table, right.table
    met: list[Any] = [a[key] == b[key] for key in wanted.keys]
    if wanted.spans:
        met += [a[_BEGIN] < b[_END], b[_BEGIN] < a[_END]]
    if _OST in a.columns:
        met.append(a[_OST] == b[_OST])
        if _LIST in b.columns:
            met.append(a[_OST] == a[_LIST].intersect(b[_LIST]).mins())
    elif wanted.sets:
        met.append(functions.ost_overlap(a[_SET], b[_SET]) > 0)
    if wanted.how in ("semi", "anti"):
        return a.join(b, met, how=wanted.how)
    pairs = a.join(b, met, how=wanted.how, lname="", rname="{name}" + _OTHER)
    return _named(pairs, a, wanted)


def _named(pairs: ir.Table, left: ir.Table, wanted: Join) -> ir.Table:
    """Drop the other's keys, and give its columns whose names are taken their suffix."""
    twins = [name for name in pairs.columns if name.removesuffix(_OTHER) != name]
    twins = [name for name in twins if name.removesuffix(_OTHER) in left.columns]
    keys = [name for name in twins if name.removesuffix(_OTHER) in (*wanted.keys, *_HELPERS)]
    named = {name.removesuffix(_OTHER) + wanted.suffix: name for name in twins if name not in keys}
    taken = {name for name in pairs.columns if name not in twins}
    if clash := next((name for name in named if name in taken), None):
        raise UsageError(f"both frames have a column {clash!r}: join with another suffix=")
    return pairs.drop(*keys).rename(named) if keys or named else pairs


def _with_spans(left: Side, right: Side, spans: tuple[str, str, str, str]) -> tuple[Side, Side]:
    begin, end, other_begin, other_end = spans
    values = [left.value(begin), left.value(end), right.value(other_begin), right.value(other_end)]
    for value, text in zip(values[1:], spans[1:], strict=True):
        _same_kind(text, values[0], value)
    return (
        left.more(**{_BEGIN: values[0], _END: values[1]}),
        right.more(**{_BEGIN: values[2], _END: values[3]}),
    )


def _with_sets(left: Side, right: Side, wanted: Join) -> tuple[Side, Side]:
    """Add one OST a row, so that engines look at pairs of one OST alone; else sets to compare."""
    mine, other = (
        side.value(name) for side, name in zip((left, right), wanted.sets or (), strict=True)
    )
    if not isinstance(mine, ir.BinaryValue):
        raise UsageError(f"{wanted.sets and wanted.sets[0]} is not a set of OSTs")
    apart = isinstance(other, ir.IntegerValue)
    if not apart and not isinstance(other, ir.BinaryValue):
        raise UsageError(f"{wanted.sets and wanted.sets[1]} is not a set of OSTs, nor an index")
    if wanted.how != "inner":
        if apart or not (wanted.keys or wanted.spans):
            raise UsageError("osts joins pairs: how must be inner")
        return left.more(**{_SET: mine}), right.more(**{_SET: other})
    if apart:
        return _taken_apart(left, mine), right.more(**{_OST: other.cast("int32")})
    return _taken_apart(left, mine), _taken_apart(right, other)


def _taken_apart(side: Side, osts: Any) -> Side:
    """Return a row for each OST of each set; in two steps, because Spark cannot in one."""
    listed = side.more(**{_LIST: functions.ost_list(osts)})
    return listed.more(**{_OST: listed.table[_LIST].unnest()})


def _same_kind(name: str, a: Any, b: Any) -> None:
    if kind_of(a) != kind_of(b):
        raise UsageError(f"{name} is {kind_of(a)} in one frame and {kind_of(b)} in the other")


__all__ = ["Join", "Side", "join", "sets", "spans"]
