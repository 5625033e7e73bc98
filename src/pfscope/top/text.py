"""Styled pieces of one line, kept apart from markup: text is text, whatever it contains."""

from collections.abc import Iterable
from typing import NamedTuple

from pfscope.untrusted import cell_text


class Piece(NamedTuple):
    """A text and how it looks."""

    text: str
    style: str = ""


Line = list[Piece]


def name_text(name: str | None) -> str:
    """Return a name as it is shown; what has none is a dash."""
    return "-" if name is None else cell_text(name) or "''"


def fitted(text: str, width: int) -> str:
    """Return text that takes exactly so many cells; what is cut ends in a mark.

    >>> fitted("r01c07", 4), fitted("a", 3), fitted("abc", 0)
    ('r01…', 'a  ', '')
    """
    if len(text) > width:
        return f"{text[: width - 1]}…" if width else ""
    return text.ljust(width)


def cut(pieces: Iterable[Piece], width: int) -> Line:
    """Return pieces that take exactly so many cells."""
    line: Line = []
    for piece in pieces:
        room = width - sum(len(each.text) for each in line)
        if len(piece.text) > room:
            line.append(Piece(fitted(piece.text, room), piece.style))
            return line
        line.append(piece)
    return [*line, Piece(" " * (width - sum(len(each.text) for each in line)))]


def spread(left: Line, right: Line, width: int) -> Line:
    """Return a line whose ends stand at both ends; where both find no room, the left gives way."""
    needed = sum(len(piece.text) for piece in right)
    if needed >= width:
        return cut(right, width)
    return [*cut(left, width - needed), *right]
