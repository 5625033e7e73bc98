"""What can be asked: one form for the command line, HTTP and Python, read from text in one way."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final

from pfscope.errors import UsageError
from pfscope.query.keys import KEYS, check
from pfscope.times import duration_us
from pfscope.untrusted import ascii_text

OBSERVED: Final = "observed"
"""As a step: every time at which any of the servers was observed."""
_WHOLE = re.compile(r"\d{1,9}")
_TRUTH: Final = {"yes": True, "no": False, "true": True, "false": False, "only": True}


@dataclass(frozen=True, slots=True)
class Option:
    """Something that one kind of question can be told."""

    name: str
    kind: type
    """int, float, str or bool."""
    default: Any
    help: str
    choices: tuple[str, ...] = ()

    def read(self, text: str) -> Any:
        """Return its value from text."""
        if self.choices and text not in self.choices:
            raise UsageError(f"{self.name} is {text!r}; it can be {', '.join(self.choices)}")
        if self.kind is bool:
            return truth(self.name, text)
        if self.kind is int and not _WHOLE.fullmatch(text):
            raise UsageError(f"{self.name} must be a whole number, not {text!r}")
        try:
            value = self.kind(text)
        except ValueError:
            value = math.nan
        if isinstance(value, float) and not math.isfinite(value):
            raise UsageError(f"{self.name} must be a number, not {text!r}")
        return value


@dataclass(frozen=True)
class Request:
    """One question's words; times stay text, as what `-2h` means depends on the store."""

    start: str | None = None
    end: str | None = None
    step: str | None = None
    operation: str | None = None
    by: tuple[str, ...] = ()
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Patterns by key."""
    system: bool | None = None
    login: bool | None = None
    options: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        check(list(self.by))
        check([key for key, _ in self.where])
        if self.step not in (None, OBSERVED):
            assert self.step is not None
            duration_us(self.step)

    def option(self, name: str) -> Any:
        """Return what one kind of question was told."""
        return dict(self.options)[name]


@dataclass(frozen=True)
class Form:
    """Which words a kind of question takes."""

    by: tuple[str, ...]
    """The keys when none are named."""
    options: tuple[Option, ...] = field(default=())

    def request(self, words: Mapping[str, Sequence[str]]) -> Request:
        """Read a request; a word may stand several times where it can."""
        given = _given(words)
        single = {name: _single(name, given.pop(name, [])) for name in _SINGLE}
        by = [key for value in given.pop("by", []) for key in value.split(",")]
        told = {}
        for option in self.options:
            text = _single(option.name, given.pop(option.name, []))
            told[option.name] = option.default if text is None else option.read(text)
        for name in given:
            if name not in KEYS:
                raise UsageError(_unknown(name, [*_SINGLE, "by", *told, *KEYS]))
        return Request(
            start=single["from"],
            end=single["to"],
            step=single["step"],
            operation=single["operation"],
            by=tuple(by) or self.by,
            where=tuple((key, tuple(map(as_stored, given[key]))) for key in sorted(given)),
            system=_maybe("system", single["system"]),
            login=_maybe("login", single["login"]),
            options=tuple(told.items()),
        )


_SINGLE: Final = ("from", "to", "step", "operation", "system", "login")


def truth(name: str, text: str) -> bool:
    """Read yes or no."""
    if text not in _TRUTH:
        raise UsageError(f"{name} must be yes or no, not {text!r}")
    return _TRUTH[text]


def as_stored(text: str) -> str:
    r"""Return a pattern as ids are stored: what is not printable ASCII is `\xHH` there.

    >>> as_stored("caf*"), as_stored("café*")
    ('caf*', 'caf\\xC3\\xA9*')
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if " " <= c <= "~" else ascii_text(_bytes_of(c)) for c in text)


def _bytes_of(character: str) -> bytes:
    """Return what was typed; a byte that is no text comes in as half of a pair."""
    was_byte = "\udc80" <= character <= "\udcff"
    return character.encode("utf-8", "surrogateescape" if was_byte else "surrogatepass")


def _given(words: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the words that were given; an empty one is a mistake, as of a shell's variable."""
    for name, values in words.items():
        if "" in values:
            raise UsageError(f"{name} is empty: say something, or leave it out")
    return {name: list(values) for name, values in words.items() if values}


def _maybe(name: str, text: str | None) -> bool | None:
    return None if text is None else truth(name, text)


def _single(name: str, values: Sequence[str]) -> str | None:
    if len(values) > 1:
        raise UsageError(f"{name} can be given once only")
    return values[0] if values else None


def _unknown(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
    return f"{name!r} cannot be asked for; {hint}"
