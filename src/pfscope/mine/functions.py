"""The functions that expressions may call: of the values of a row, and of all values of a group.

They mean the same on every engine: what has no answer is null (a division by zero, a logarithm of
zero), percentiles are exact and lie between neighbours, nothing counts what is null.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import ibis
import ibis.expr.types as ir

from pfscope.errors import UsageError
from pfscope.mine import engine as functions
from pfscope.mine.engine import Engine

Value = Any
"""A value of Ibis: a column, or what is made of one."""

_NUMBER: Final = "a number"
_TEXT: Final = "a text"
_FLAG: Final = "true or false"
_TIME: Final = "a time"
_OSTS: Final = "a set of OSTs"
_ANY: Final = ""


class Function(NamedTuple):
    """A function, what it takes, and what it tells."""

    build: Callable[..., Value]
    takes: tuple[str, ...]
    """Kinds of its arguments; the last may be repeated where it is `more`."""
    about: str
    more: bool = False


def divided(a: Value, b: Value) -> Value:
    """Divide; by zero is null."""
    return a.cast("float64") / b.nullif(0)


def remainder(a: Value, b: Value) -> Value:
    """Return what a division leaves; by zero is null."""
    return a % b.nullif(0)


def seconds_between(a: Value, b: Value) -> Value:
    """Return the seconds from time `b` to time `a`."""
    return (functions.micros(a) - functions.micros(b)) / 1e6


def later(time: Value, seconds: Value) -> Value:
    """Return the time so many seconds after another."""
    return functions.time_of(functions.micros(time) + (seconds * 1e6).round().cast("int64"))


def _overlap(a0: Value, a1: Value, b0: Value, b1: Value) -> Value:
    common = seconds_between(ibis.least(a1, b1), ibis.greatest(a0, b0))
    return ibis.greatest(common, 0.0)


def _positive(x: Value) -> Value:
    return ibis.cases((x > 0, x.cast("float64")))


def _root(x: Value) -> Value:
    return ibis.cases((x >= 0, x.cast("float64"))).sqrt()


SCALARS: Final[Mapping[str, Function]] = {
    "abs": Function(lambda x: x.abs(), (_NUMBER,), "its size"),
    "round": Function(lambda x: x.round(), (_NUMBER,), "the nearest whole number"),
    "floor": Function(lambda x: x.floor(), (_NUMBER,), "the whole number below"),
    "ceil": Function(lambda x: x.ceil(), (_NUMBER,), "the whole number above"),
    "sqrt": Function(_root, (_NUMBER,), "the root"),
    "log": Function(lambda x: _positive(x).ln(), (_NUMBER,), "the natural logarithm"),
    "log2": Function(lambda x: _positive(x).ln() / ibis.literal(2.0).ln(), (_NUMBER,),
                     "the logarithm of base 2"),
    "log10": Function(lambda x: _positive(x).ln() / ibis.literal(10.0).ln(), (_NUMBER,),
                      "the logarithm of base 10"),
    "least": Function(ibis.least, (_NUMBER, _NUMBER), "the smallest", more=True),
    "greatest": Function(ibis.greatest, (_NUMBER, _NUMBER), "the largest",
                         more=True),
    "if": Function(lambda c, a, b: c.ifelse(a, b), (_FLAG, _ANY, _ANY), "one of two"),
    "coalesce": Function(ibis.coalesce, (_ANY, _ANY), "the first that is not null",
                         more=True),
    "lower": Function(lambda x: x.lower(), (_TEXT,), "in small letters"),
    "length": Function(lambda x: x.length(), (_TEXT,), "how many characters"),
    "contains": Function(lambda x, part: x.contains(part), (_TEXT, _TEXT), "whether it holds one"),
    "starts_with": Function(lambda x, part: x.startswith(part), (_TEXT, _TEXT),
                            "whether it begins with a text"),
    "ends_with": Function(lambda x, part: x.endswith(part), (_TEXT, _TEXT),
                          "whether it ends with a text"),
    "day": Function(lambda x: x.date(), (_TIME,), "the day, UTC"),
    "hour": Function(lambda x: x.hour(), (_TIME,), "the hour of the day, UTC"),
    "later": Function(later, (_TIME, _NUMBER), "the time so many seconds after"),
    "seconds": Function(seconds_between, (_TIME, _TIME), "the seconds between"),
    "overlap": Function(_overlap, (_TIME, _TIME, _TIME, _TIME),
                        "the seconds that two spans have in common"),
    "ost_count": Function(functions.ost_count, (_OSTS,), "how many OSTs a set has"),
    "ost_overlap": Function(functions.ost_overlap, (_OSTS, _OSTS), "how many OSTs both sets have"),
}  # fmt: skip
"""Functions of the values of one row."""


def percentile(x: Value, share: Value) -> Value:
    """Return the value that so many percent of all are below."""
    percent = _constant(share)
    if not 0 <= percent <= 100:
        raise UsageError(f"a percentile is between 0 and 100, not {percent:g}")
    return x.cast("float64").quantile(percent / 100)


def _constant(value: Value) -> float:
    operation = value.op()
    if not hasattr(operation, "value") or not isinstance(operation.value, int | float):
        raise UsageError("which percentile must be a number: percentile(bytes_written, 50)")
    return float(operation.value)


AGGREGATES: Final[Mapping[str, Function]] = {
    "sum": Function(lambda x: x.sum(), (_NUMBER,), "the sum"),
    "mean": Function(lambda x: x.mean(), (_NUMBER,), "the mean"),
    "min": Function(lambda x: x.min(), (_ANY,), "the smallest"),
    "max": Function(lambda x: x.max(), (_ANY,), "the largest"),
    "median": Function(lambda x: x.cast("float64").quantile(0.5), (_NUMBER,), "the median"),
    "percentile": Function(percentile, (_NUMBER, _NUMBER), "exact, between neighbours"),
    "std": Function(lambda x: x.std(how="sample"), (_NUMBER,), "the standard deviation"),
    "distinct": Function(lambda x: x.nunique(), (_ANY,), "how many different ones"),
    "any": Function(lambda x: x.any(), (_FLAG,), "whether one is true"),
    "all": Function(lambda x: x.all(), (_FLAG,), "whether each one is true"),
}  # fmt: skip
"""Functions of the values of a group; `count`, `ost_count` and `ost_union` are there besides."""
OST_AGGREGATES: Final = ("ost_count", "ost_union")


def of_osts(name: str, osts: Value, engine: Engine) -> Value:
    """Return the union of a group's sets, or how many OSTs it has."""
    union = engine.ost_union_all(osts)
    return functions.ost_count(union) if name == "ost_count" else union


def check(name: str, function: Function, arguments: list[Value], told: list[str]) -> None:
    """Refuse arguments of the wrong number or kind."""
    few, many = len(function.takes), function.more
    if len(arguments) < few or (len(arguments) > few and not many):
        raise UsageError(f"{name}() takes {few}{' or more' if many else ''}, not {len(arguments)}")
    kinds = (*function.takes, *[function.takes[-1]] * (len(arguments) - few)) if few else ()
    for kind, value, text in zip(kinds, arguments, told, strict=True):
        require(kind, value, f"{name}(): {text}")


def require(kind: str, value: Value, what: str) -> None:
    """Refuse a value that is not of a kind."""
    fits = {
        _NUMBER: ir.NumericValue, _TEXT: ir.StringValue, _FLAG: ir.BooleanValue,
        _TIME: ir.TimestampValue, _OSTS: ir.BinaryValue, _ANY: ir.Value,
    }[kind]  # fmt: skip
    if not isinstance(value, fits) or (kind == _NUMBER and isinstance(value, ir.BooleanValue)):
        raise UsageError(f"{what} is not {kind}")


def require_number(value: Value, what: str) -> None:
    """Refuse what is no number."""
    require(_NUMBER, value, what)


def require_flag(value: Value, what: str) -> None:
    """Refuse what is neither true nor false."""
    require(_FLAG, value, what)
