"""Slurm's node lists, expanded: `r01c[01-04,07],gpu[1-2]n[001-003]` to the names they stand for.

How many names a list stands for is known, and bounded, before the first of them is made.
"""

import re
from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Final, NamedTuple

from pfscope.errors import InputError

LIMIT: Final = 100_000
"""More nodes than any machine has; a longer list is an attack or an accident."""
_NOBODY: Final = frozenset(("", "None assigned", "None", "(null)", "Unknown"))
_TOKEN: Final = re.compile(r"\[(?P<numbers>[^\[\]]*)\]|(?P<comma>,)|(?P<text>[^\[\],\s]+)")
_RANGE: Final = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")


class _Range(NamedTuple):
    first: int
    last: int
    width: int

    def names(self) -> Iterator[str]:
        return (f"{number:0{self.width}d}" for number in range(self.first, self.last + 1))


_Part = str | list[_Range]
"""One dimension of a name: a text that all have, or numbers."""


def expand(text: str, limit: int = LIMIT) -> list[str]:
    """Return the names in the order of the list; where nothing is assigned, there are none.

    >>> expand("r01c[01-02,07],gpu[1-2]n[009-010]-ib")[3:]
    ['gpu1n009-ib', 'gpu1n010-ib', 'gpu2n009-ib', 'gpu2n010-ib']
    """
    if text.strip() in _NOBODY:
        return []
    groups = _groups(text.strip())
    count = sum(map(_size, groups))
    if count > limit:
        raise InputError(f"the node list {_shown(text)} stands for {count} nodes, over {limit}")
    return [name for group in groups for name in _names(group)]


def _groups(text: str) -> list[list[_Part]]:
    """Split at the commas that stand outside brackets."""
    groups: list[list[_Part]] = [[]]
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise InputError(f"{_shown(text)} is no node list: {text[at]!a} at character {at + 1}")
        at = token.end()
        if token["comma"]:
            groups.append([])
        elif token["text"]:
            groups[-1].append(token["text"])
        else:
            groups[-1].append([_range(part, text) for part in token["numbers"].split(",")])
    if not all(groups):
        raise InputError(f"{_shown(text)} is no node list: a name is missing beside a comma")
    return groups


def _range(part: str, text: str) -> _Range:
    match = _RANGE.fullmatch(part)
    if match is None:
        raise InputError(f"{_shown(text)} is no node list: {part[:40]!a} is no range of numbers")
    first, last = match[1], match[2] or match[1]
    if int(first) > int(last):
        raise InputError(f"{_shown(text)} is no node list: {part!a} runs backwards")
    return _Range(int(first), int(last), len(first))


def _size(group: list[_Part]) -> int:
    return prod(
        1 if isinstance(part, str) else sum(r.last - r.first + 1 for r in part) for part in group
    )


def _names(group: list[_Part]) -> Iterator[str]:
    dimensions = [
        [part] if isinstance(part, str) else [name for numbers in part for name in numbers.names()]
        for part in group
    ]
    return map("".join, product(*dimensions))


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 60 else f"{text[:57]}...")
