"""Expressions in text, such as `bytes_written < 1GB and not shared`: read into a tree, never run.

    or    and    not    = == != <> < <= > >=  in (…)  not in (…)  is null  is not null
    + -   * / %  -x     names, numbers with units (1GB, 90s), 'texts', functions f(a, b), ( )

Later lines bind tighter. Nothing else is understood: no attributes, no statements, no SQL.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from pfscope.errors import UsageError
from pfscope.mine.units import NUMBER, with_unit

LONGEST: Final = 10_000
_DEEPEST: Final = 50


class Number(NamedTuple):
    """A number, in bytes or seconds where it had a unit."""

    value: int | float


class Text(NamedTuple):
    """A text in quotes."""

    value: str


class Name(NamedTuple):
    """A column."""

    name: str


class Call(NamedTuple):
    """A function of something, an operator too."""

    name: str
    arguments: "tuple[Tree, ...]"


Tree = Number | Text | Name | Call

_TOKEN: Final = re.compile(
    rf"""\s*(?:
      (?P<number>{NUMBER})(?P<unit>[A-Za-z]*(?:(?<=B)/s\b)?)
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<text>'(?:[^']|'')*' | "(?:[^"]|"")*")
    | (?P<mark><=|>=|<>|!=|==|[-+*/%(),<>=])
    )""",
    re.VERBOSE,
)
_COMPARED: Final = {"==": "=", "<>": "!="}
COMPARISONS: Final = ("=", "!=", "<", "<=", ">", ">=")


class _Token(NamedTuple):
    kind: str
    value: str
    unit: str = ""
    at: int = 0


def parse(text: str) -> Tree:
    """Return the tree of an expression.

    >>> parse("bytes < 1kB")
    Call(name='<', arguments=(Name(name='bytes'), Number(value=1000)))
    """
    if len(text) > LONGEST:
        raise UsageError(f"an expression of {len(text)} characters is too long")
    return _Reader(text).whole()


class _Reader:
    """Reads an expression from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._at = 0
        self._depth = 0

    def whole(self) -> Tree:
        """Return the tree of all of it."""
        tree = self._nested(self._either)
        if self._next().kind != "end":
            raise self._wrong()
        return tree

    def _nested(self, part: Callable[[], Tree]) -> Tree:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UsageError("an expression is nested too deep")
        tree = part()
        self._depth -= 1
        return tree

    def _either(self) -> Tree:
        return self._chain(self._both, ("or",))

    def _both(self) -> Tree:
        return self._chain(self._negated, ("and",))

    def _negated(self) -> Tree:
        if self._took("not"):
            return Call("not", (self._nested(self._negated),))
        return self._compared()

    def _compared(self) -> Tree:
        left = self._sum()
        token = self._next()
        if (
            token.kind == "mark"
            and (name := _COMPARED.get(token.value, token.value)) in COMPARISONS
        ):
            self._at += 1
            return Call(name, (left, self._sum()))
        if self._took("is"):
            negated = self._took("not")
            self._require("null")
            return _maybe_not(Call("is null", (left,)), negated=negated)
        negated = self._took("not")
        if self._took("in"):
            self._require("(")
            return _maybe_not(Call("in", (left, *self._arguments())), negated=negated)
        if negated:
            raise self._wrong()
        return left

    def _sum(self) -> Tree:
        return self._chain(self._product, ("+", "-"))

    def _product(self) -> Tree:
        return self._chain(self._signed, ("*", "/", "%"))

    def _signed(self) -> Tree:
        if not self._took("-"):
            return self._atom()
        tree = self._nested(self._signed)
        return Number(-tree.value) if isinstance(tree, Number) else Call("negative", (tree,))

    def _chain(self, part: Callable[[], Tree], names: tuple[str, ...]) -> Tree:
        """Read parts with operators of one strength between, from the left."""
        tree = part()
        while name := next((name for name in names if self._took(name)), None):
            tree = Call(name, (tree, part()))
        return tree

    def _atom(self) -> Tree:
        token = self._next()
        self._at += 1
        if token.kind == "number":
            return Number(with_unit(token.value, token.unit.removesuffix("/s")))
        if token.kind == "text":
            quote = token.value[0]
            return Text(token.value[1:-1].replace(quote * 2, quote))
        if token.kind == "word" and token.value.lower() not in _KEYWORDS:
            return Call(token.value, self._arguments()) if self._took("(") else Name(token.value)
        if token.value == "(":
            tree = self._nested(self._either)
            self._require(")")
            return tree
        self._at -= 1
        raise self._wrong()

    def _arguments(self) -> tuple[Tree, ...]:
        """Read what stands between the parentheses, of which the first is read already."""
        arguments: list[Tree] = []
        while not self._took(")"):
            if arguments and not self._took(","):
                raise self._wrong(", ) is missing")
            arguments.append(self._nested(self._either))
        return tuple(arguments)

    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _took(self, what: str) -> bool:
        token = self._next()
        took = token.kind in ("mark", "word") and token.value.lower() == what
        self._at += took
        return took

    def _require(self, what: str) -> None:
        if not self._took(what):
            raise self._wrong(f", {what} is missing")

    def _wrong(self, why: str = "") -> UsageError:
        rest = self._text[self._next().at :].strip()
        return UsageError(f"{self._text!r} is not understood at {rest or 'its end'!r}{why}")


_KEYWORDS: Final = frozenset({"and", "or", "not", "in", "is", "null"})


def _maybe_not(tree: Tree, *, negated: bool) -> Tree:
    return Call("not", (tree,)) if negated else tree


def _tokens(text: str) -> list[_Token]:
    tokens, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise UsageError(f"{text!r} is not understood at {text[at:].strip()!r}")
        kind = match.lastgroup if match.lastgroup != "unit" else "number"
        tokens.append(_Token(str(kind), match[str(kind)], match["unit"] or "", at))
        at = match.end()
    return [*tokens, _Token("end", "", at=len(text))]
