"""What an expression in text means: its tree turned into an expression of Ibis over a table.

Names are looked up among the table's columns and the functions; whatever is not known is refused
with the nearest one that is. Texts become literals, which Ibis quotes: none can reach SQL.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from difflib import get_close_matches
from typing import Any, Final

import ibis
import ibis.expr.types as ir

from pfscope.errors import UsageError
from pfscope.mine import functions
from pfscope.mine.engine import Engine
from pfscope.mine.expression import COMPARISONS, Call, Name, Number, Text, Tree, parse
from pfscope.mine.functions import AGGREGATES, OST_AGGREGATES, SCALARS, Value
from pfscope.mine.own import OwnFunction

_CONSTANTS: Final = {"true": True, "false": False}


def column(table: ir.Table, name: str) -> Value:
    """Return a column, or say which name is nearest."""
    if name not in table.columns:
        raise UsageError(f"there is no column {name!r}{nearest(name, table.columns)}")
    return table[name]


def nearest(name: str, known: Any) -> str:
    """Return the end of a sentence that offers what is spelled most like a name."""
    names = list(known)
    near = get_close_matches(name, names, 1, 0.5)
    if near:
        return f", did you mean {near[0]}?"
    listed = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"; there are {listed}" if names else ""


class Meaning:
    """Reads expressions over one table."""

    def __init__(self, table: ir.Table, engine: Engine, own: Mapping[str, OwnFunction]) -> None:
        self._table, self._engine, self._own = table, engine, own

    def of_row(self, text: str) -> Value:
        """Return what a text means for each row."""
        return self._value(parse(text), grouped=False)

    def condition(self, text: str) -> Value:
        """Return a condition on each row."""
        value = self.of_row(text)
        functions.require_flag(value, f"{text!r}")
        return value

    def of_group(self, text: str) -> Value:
        """Return what a text means for a group of rows."""
        value = self._value(parse(text), grouped=True)
        if not isinstance(value, ir.Scalar):
            names = ", ".join(("count", *AGGREGATES, "ost_union"))
            raise UsageError(f"{text!r} has many values in a group: take one of {names}")
        return value

    def _value(self, tree: Tree, *, grouped: bool) -> Value:
        match tree:
            case Number(value):
                return ibis.literal(value)
            case Text(value):
                return ibis.literal(value)
            case Name(name) if name not in self._table.columns and name.lower() in _CONSTANTS:
                return ibis.literal(_CONSTANTS[name.lower()])
            case Name(name):
                return column(self._table, name)
            case Call(name, arguments) if grouped and self._is_aggregate(name):
                return self._aggregate(name, arguments)
            case Call(name, arguments):
                values = [self._value(argument, grouped=grouped) for argument in arguments]
                return self._call(name, values, [shown(a) for a in arguments])
        raise AssertionError(tree)

    def _is_aggregate(self, name: str) -> bool:
        own = self._own.get(name)
        return own.grouped if own else name in (*AGGREGATES, *OST_AGGREGATES, "count")

    def _aggregate(self, name: str, arguments: tuple[Tree, ...]) -> Value:
        values = [self._value(argument, grouped=False) for argument in arguments]
        told = [shown(argument) for argument in arguments]
        if name in self._own:
            return self._own[name].call(self._engine, values, told)
        if name == "count":
            return values[0].count() if values else self._table.count()
        if name in OST_AGGREGATES:
            functions.check(name, SCALARS["ost_count"], values, told)
            return functions.of_osts(name, values[0], self._engine)
        functions.check(name, AGGREGATES[name], values, told)
        return AGGREGATES[name].build(*values)

    def _call(self, name: str, values: list[Value], told: list[str]) -> Value:
        if name in _OPERATORS:
            return _OPERATORS[name](values, told)
        if name in COMPARISONS:
            return _compared(name, values, told)
        if name in ("+", "-"):
            return _added(name, values, told)
        if name in _ARITHMETIC:
            for value, text in zip(values, told, strict=True):
                functions.require_number(value, text)
            return _ARITHMETIC[name](*values)
        if name in self._own and not self._own[name].grouped:
            return self._own[name].call(self._engine, values, told)
        if name not in SCALARS:
            raise self._unknown(name)
        functions.check(name, SCALARS[name], values, told)
        return SCALARS[name].build(*values)

    def _unknown(self, name: str) -> UsageError:
        if self._is_aggregate(name):
            return UsageError(f"{name}() is of a group of rows: ask for it in group(…)")
        known = [*SCALARS, *AGGREGATES, "count", "ost_union", *self._own]
        return UsageError(f"there is no function {name!r}{nearest(name, known)}")


def _both(values: list[Value], told: list[str]) -> Value:
    _require_flags(values, told)
    return values[0] & values[1]


def _either(values: list[Value], told: list[str]) -> Value:
    _require_flags(values, told)
    return values[0] | values[1]


def _not(values: list[Value], told: list[str]) -> Value:
    _require_flags(values, told)
    return ~values[0]


def _require_flags(values: list[Value], told: list[str]) -> None:
    for value, text in zip(values, told, strict=True):
        functions.require_flag(value, text)


def _among(values: list[Value], told: list[str]) -> Value:
    if len(values) < 2:
        raise UsageError(f"{told[0]} in (): nothing is in it")
    pairs = [
        _alike(values[0], value, (told[0], text))
        for value, text in zip(values[1:], told[1:], strict=True)
    ]
    return pairs[0][0].isin([right for _, right in pairs])


def _compared(name: str, values: list[Value], told: list[str]) -> Value:
    left, right = _alike(values[0], values[1], (told[0], told[1]))
    return {
        "=": left == right, "!=": left != right, "<": left < right, "<=": left <= right,
        ">": left > right, ">=": left >= right,
    }[name]  # fmt: skip


def _alike(left: Value, right: Value, told: tuple[str, str]) -> tuple[Value, Value]:
    """Return two values that can be compared; texts are times where the other one is a time."""
    if isinstance(left, ir.StringScalar) and not isinstance(right, ir.StringValue):
        left = _as_time(left, right)
    if isinstance(right, ir.StringScalar) and not isinstance(left, ir.StringValue):
        right = _as_time(right, left)
    if kind_of(left) != kind_of(right):
        raise UsageError(f"{told[0]} is {kind_of(left)}, and {told[1]} is {kind_of(right)}")
    return left, right


def kind_of(value: Value) -> str:
    """Return what a value is, in words."""
    kinds: tuple[tuple[type, str], ...] = (
        (ir.BooleanValue, "true or false"), (ir.NumericValue, "a number"),
        (ir.StringValue, "a text"), (ir.TimestampValue, "a time"), (ir.DateValue, "a day"),
        (ir.BinaryValue, "a set of OSTs"),
    )  # fmt: skip
    return next((name for kind, name in kinds if isinstance(value, kind)), str(value.type()))


def _as_time(text: Value, beside: Value) -> Value:
    written = text.op().value if hasattr(text.op(), "value") else ""
    try:
        if isinstance(beside, ir.DateValue):
            return ibis.literal(date.fromisoformat(written))
        if isinstance(beside, ir.TimestampValue):
            moment = datetime.fromisoformat(written)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return ibis.literal(moment.astimezone(UTC), type="timestamp('UTC')")
    except ValueError:
        raise UsageError(f"{written!r} is no time: write 2018-01-28 or 2018-01-28T08:30") from None
    return text


def _added(name: str, values: list[Value], told: list[str]) -> Value:
    """Add or take away; seconds can be added to a time, and two times have a distance."""
    left, right = values
    if isinstance(left, ir.TimestampValue):
        if name == "-" and isinstance(right, ir.TimestampValue):
            return functions.seconds_between(left, right)
        functions.require_number(right, told[1])
        return functions.later(left, right if name == "+" else -right)
    for value, text in zip(values, told, strict=True):
        functions.require_number(value, text)
    return left + right if name == "+" else left - right


_OPERATORS: Final[Mapping[str, Callable[[list[Value], list[str]], Value]]] = {
    "and": _both, "or": _either, "not": _not, "in": _among,
    "is null": lambda values, _: values[0].isnull(),
}  # fmt: skip
_ARITHMETIC: Final[Mapping[str, Callable[..., Value]]] = {
    "*": lambda a, b: a * b, "/": functions.divided, "%": functions.remainder,
    "negative": lambda a: -a,
}  # fmt: skip


def shown(tree: Tree) -> str:
    """Return a tree as text, for errors."""
    match tree:
        case Number(value):
            return f"{value}"
        case Text(value):
            return repr(value)
        case Name(name):
            return name
        case Call(name, arguments):
            return f"{name}({', '.join(shown(a) for a in arguments)})"
    raise AssertionError(tree)
