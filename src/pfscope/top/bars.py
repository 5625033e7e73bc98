"""Lines of the window that are not the table: the head, what is said, and the keys below."""

from collections.abc import Callable
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.strip import Strip
from textual.widget import Widget

from pfscope.top.keys import KEYS, Key
from pfscope.top.table import style_of
from pfscope.top.text import Line, cut

_KEY: Final = Style(bold=True)
_GAP: Final = 2


class Lines(Widget):
    """Lines as they are given; it is as high as they are many."""

    def __init__(self, name: str) -> None:
        super().__init__(id=name)
        self._lines: list[Line] = []
        self.styles.height = 1

    def show(self, lines: list[Line]) -> None:
        """Show lines."""
        if len(lines) != len(self._lines):
            self.styles.height = len(lines)
        self._lines = lines
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw a line."""
        width = self.size.width
        line = cut(self._lines[y], width) if y < len(self._lines) else cut([], width)
        return Strip([Segment(piece.text, style_of(piece.style)) for piece in line], width)


class Hints(Widget):
    """The keys that matter most, which can be clicked."""

    DEFAULT_CSS = "Hints { height: 1; dock: bottom; }"

    def __init__(self, act: Callable[[str], None]) -> None:
        super().__init__()
        self._act = act

    def render_line(self, _y: int) -> Strip:
        """Draw them as far as there is room."""
        segments: list[Segment] = []
        for key in shown(self.size.width):
            segments += [Segment(key.shown, _KEY), Segment(f" {key.hint}"), Segment(" " * _GAP)]
        return Strip(segments).adjust_cell_length(self.size.width)

    def on_click(self, event: events.Click) -> None:
        """Do what a key does."""
        start = 0
        for key in shown(self.size.width):
            end = start + _width(key)
            if start <= event.x < end:
                self._act(key.action)
                return
            start = end + _GAP


def shown(width: int) -> list[Key]:
    """Return the keys that find room."""
    found, used = [], 0
    for key in (key for key in KEYS if key.hint):
        used += _width(key) + _GAP
        if used - _GAP <= width:
            found.append(key)
    return found


def _width(key: Key) -> int:
    return len(key.shown) + 1 + len(key.hint)
