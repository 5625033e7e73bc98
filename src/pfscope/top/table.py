"""The table's widget: rows of text under headings, a cursor, and the mouse."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from pfscope.top.columns import Cell, Column
from pfscope.top.picture import Names
from pfscope.top.text import fitted

GUTTER: Final = 2
MARKS: Final = ("!", "!", "!")
_HEAD: Final = Style(bold=True, reverse=True)
_CURSOR: Final = Style(reverse=True)
_STYLES: Final[dict[str, Style]] = {}


@dataclass(frozen=True)
class Row:
    """A row as it is drawn."""

    names: Names
    texts: tuple[str, ...]
    level: int
    """How bad the incident is that it is part of; -1: none."""
    style: str
    cells: tuple[Cell, ...]


def style_of(text: str) -> Style:
    """Return a style, parsed once."""
    if text not in _STYLES:
        _STYLES[text] = Style.parse(text)
    return _STYLES[text]


class Table(Widget):
    """Rows; which one the cursor is on is kept by its names, not by its place."""

    DEFAULT_CSS = "Table { height: 1fr; }"

    class Picked(Message):
        """A row was clicked that the cursor was on already."""

    class Sorted(Message):
        """The heading of a column was clicked."""

        def __init__(self, column: str) -> None:
            super().__init__()
            self.column = column

    def __init__(self) -> None:
        super().__init__()
        self._columns: Sequence[Column] = ()
        self._rows: Sequence[Row] = ()
        self._first = 0
        self.cursor = 0
        self.said = ""
        """What stands instead of rows where there are none."""

    @property
    def rows(self) -> Sequence[Row]:
        """The rows, the first first."""
        return self._rows

    @property
    def room(self) -> int:
        """How many rows there is room for."""
        return max(self.size.height - 1, 1)

    @property
    def seen(self) -> tuple[int, int]:
        """The first and the last row that is seen, counted from 1."""
        return min(self._first + 1, len(self._rows)), min(self._first + self.room, len(self._rows))

    @property
    def here(self) -> Row | None:
        """The row that the cursor is on."""
        return self._rows[self.cursor] if self._rows else None

    def show(self, columns: Sequence[Column], rows: Sequence[Row], stay: Names | None) -> None:
        """Show rows, the cursor on that of some names, or at the top."""
        self._columns, self._rows = columns, rows
        places = (n for n, row in enumerate(rows) if row.names == stay)
        self.cursor = next(places, min(self.cursor, max(len(rows) - 1, 0)) if stay else 0)
        self._follow()

    def move(self, by: int) -> None:
        """Move the cursor."""
        self.cursor = min(max(self.cursor + by, 0), max(len(self._rows) - 1, 0))
        self._follow()

    def _follow(self) -> None:
        last = max(len(self._rows) - self.room, 0)
        self._first = min(max(self._first, self.cursor - self.room + 1, 0), self.cursor, last)
        self.refresh()

    def on_resize(self, _event: events.Resize) -> None:
        """Keep the cursor in sight."""
        self._follow()

    def render_line(self, y: int) -> Strip:
        """Draw a line."""
        width = self.size.width
        if y == 0:
            return Strip([Segment(fitted(self._head(), width), _HEAD)], width)
        place = self._first + y - 1
        if place < len(self._rows):
            return self._drawn(self._rows[place], place == self.cursor, width)
        text = f"  {self.said}" if y == 2 and not self._rows else ""
        return Strip([Segment(fitted(text, width), style_of("dim"))], width)

    def _head(self) -> str:
        named = (
            column.heading.ljust(column.width) if column.is_key
            else column.heading.rjust(column.width)
            for column in self._columns
        )  # fmt: skip
        return " " * GUTTER + " ".join(named)

    def _drawn(self, row: Row, under_cursor: bool, width: int) -> Strip:
        keys = [column for column in self._columns if column.is_key]
        pieces = [Cell(MARKS[row.level] if row.level >= 0 else " ", row.style), Cell(" ")]
        for text, column in zip(row.texts, keys, strict=True):
            pieces += [Cell(fitted(text, column.width), row.style), Cell(" ")]
        for cell in row.cells:
            pieces += [cell, Cell(" ")]
        left = width
        segments = []
        for text, style in pieces:
            shown = text[:left]
            left -= len(shown)
            drawn = style_of(style)
            segments.append(Segment(shown, drawn + _CURSOR if under_cursor else drawn))
        segments.append(Segment(" " * left, _CURSOR if under_cursor else None))
        return Strip(segments, width)

    def on_click(self, event: events.Click) -> None:
        """Sort by a column, go to a row, or look into the one where the cursor is."""
        if event.y == 0:
            if column := self._column_at(event.x):
                self.post_message(self.Sorted(column))
            return
        place = self._first + event.y - 1
        if place >= len(self._rows):
            return
        if place == self.cursor:
            self.post_message(self.Picked())
        self.move(place - self.cursor)

    def _column_at(self, x: int) -> str | None:
        start = GUTTER
        for column in self._columns:
            if start <= x <= start + column.width:
                return None if column.is_key else column.name
            start += column.width + 1
        return None

    def on_mouse_scroll_up(self, _event: events.MouseScrollUp) -> None:
        """Go up."""
        self.move(-3)

    def on_mouse_scroll_down(self, _event: events.MouseScrollDown) -> None:
        """Go down."""
        self.move(3)
