"""Tables for people: aligned, cut to the terminal, coloured only there, and safe to look at.

No cell can move the cursor or change a colour: what is not printable is written as `\\xHH`.
"""

import os
import shutil
from collections.abc import Sequence
from typing import Final, NamedTuple, TextIO

from pfscope.untrusted import printable

BOLD: Final = "1"
WARM: Final = "33"
HOT: Final = "1;31"
_GAP: Final = "  "
_NARROWEST: Final = 8


class Cell(NamedTuple):
    """A text, and how it looks on a terminal."""

    text: str
    style: str = ""


class Column(NamedTuple):
    """A heading, and on which side its cells are aligned."""

    name: str
    right: bool = False


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], out: TextIO) -> None:
    """Print a heading and rows."""
    width = shutil.get_terminal_size().columns if out.isatty() else 0
    colour = out.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    heads = [Cell(column.name, BOLD) for column in columns]
    lines = [[_clean(cell, out) for cell in row] for row in (heads, *rows)]
    widths = [max(len(cell.text) for cell in column) for column in zip(*lines, strict=True)]
    if width:
        widths = _narrowed(widths, [column.right for column in columns], width)
    for line in lines:
        laid = zip(line, columns, widths, strict=True)
        out.write(_GAP.join(_laid(*item, colour) for item in laid if item[2]).rstrip() + "\n")


def _clean(cell: Cell, out: TextIO) -> Cell:
    text = printable(cell.text)
    if not text.isascii() and (out.encoding or "utf-8").lower().replace("-", "") != "utf8":
        text = text.replace("–", "-").encode("ascii", "replace").decode()
    return Cell(text, cell.style)


def _narrowed(widths: list[int], numbers: list[bool], width: int) -> list[int]:
    """Take from the widest texts what a terminal has no room for, then from the last columns."""
    widths = list(widths)
    over = sum(widths) + len(_GAP) * (len(widths) - 1) - width
    while over > 0:
        texts = [i for i, w in enumerate(widths) if not numbers[i] and w > _NARROWEST]
        if not texts:
            break
        widest = max(texts, key=widths.__getitem__)
        widths[widest] -= 1
        over -= 1
    for i in reversed(range(1, len(widths))):
        taken = min(max(over, 0), widths[i])
        widths[i] -= taken
        over -= taken if widths[i] else taken + len(_GAP)
    return [min(widths[0], width), *widths[1:]]


def _laid(cell: Cell, column: Column, width: int, colour: bool) -> str:
    text = cell.text if len(cell.text) <= width else (cell.text[: max(width - 1, 0)] + "…")[:width]
    text = text.rjust(width) if column.right else text.ljust(width)
    return f"\x1b[{cell.style}m{text}\x1b[0m" if colour and cell.style else text
