"""Python functions of one's own in expressions, on every engine.

A function's annotations say what it takes and gives: `int`, `float`, `str` or `bool`. One that
takes a `list[…]` is of a group: it gets the values of all its rows, in no order, without nulls.
"""

import functools
import inspect
import itertools
import typing
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir

from pfscope.errors import UsageError
from pfscope.mine.engine import Engine, Known

_TYPES: Final[dict[Any, dt.DataType]] = {
    int: dt.int64, float: dt.float64, str: dt.string, bool: dt.boolean,
}  # fmt: skip
_KINDS: Final[dict[type, type]] = {
    int: ir.IntegerValue, float: ir.NumericValue, str: ir.StringValue, bool: ir.BooleanValue,
}  # fmt: skip


_NUMBERS: Final = itertools.count()
"""So that a function that is made known again is another one."""


class OwnFunction(NamedTuple):
    """A Python function that expressions may call."""

    name: str
    parameters: tuple[type, ...]
    grouped: bool
    """It takes lists: the values of a group."""
    known: Known
    udf: Callable[..., Any]

    def call(self, engine: Engine, values: list[Any], told: list[str]) -> Any:
        """Return the function of values, and make it known to the engine."""
        if len(values) != len(self.parameters):
            raise UsageError(f"{self.name}() takes {len(self.parameters)}, not {len(values)}")
        for kind, value, text in zip(self.parameters, values, told, strict=True):
            if not isinstance(value, _KINDS[kind]):
                raise UsageError(f"{self.name}() takes {kind.__name__}: {text} is not")
        given = [
            value.cast(_TYPES[kind]) for kind, value in zip(self.parameters, values, strict=True)
        ]
        engine.know(self.known)
        return self.udf(*[value.collect() for value in given] if self.grouped else given)


def own_function(function: Callable[..., Any]) -> OwnFunction:
    """Make a Python function known; null for any argument gives null."""
    name = function.__name__
    hints = typing.get_type_hints(function)
    given = [hints.get(parameter) for parameter in inspect.signature(function).parameters]
    grouped = bool(given) and all(typing.get_origin(kind) is list for kind in given)
    kinds = [typing.get_args(kind)[0] for kind in given] if grouped else given
    result = hints.get("return")
    if not kinds or any(kind not in _TYPES for kind in (*kinds, result)):
        raise UsageError(
            f"{name}() does not say what it takes and gives: annotate it with int, float, str or "
            "bool, or all parameters with lists of them for a function of a group"
        )
    types = [dt.Array(_TYPES[kind]) if grouped else _TYPES[kind] for kind in kinds]
    known = Known(f"own_{name}_{next(_NUMBERS)}", _careful(function), types, _TYPES[result])
    declare = ibis.udf.scalar.builtin(name=known.name, signature=(tuple(types), known.gives))
    return OwnFunction(
        name, tuple(kind for kind in kinds if kind), grouped, known, declare(known.function)
    )


def _careful(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of as many arguments that is not asked about null."""

    @functools.wraps(function)
    def called(*arguments: Any) -> Any:
        return None if None in arguments else function(*arguments)

    return called
