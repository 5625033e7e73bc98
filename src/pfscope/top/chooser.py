"""The choice of columns: which are shown, and in which order."""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget

from pfscope.top.columns import HEADINGS, USUAL
from pfscope.top.table import style_of
from pfscope.top.text import fitted
from pfscope.untrusted import cell_text

_FRAME = 2


class Boxes(Widget):
    """Names with a box to tick each."""

    def __init__(self, names: Sequence[str], ticked: Sequence[str]) -> None:
        super().__init__()
        self.names, self.ticked, self.cursor = list(names), set(ticked), 0
        self._first = 0

    def render_line(self, y: int) -> Strip:
        """Draw a name."""
        place, width = self._first + y, self.size.width
        if place >= len(self.names):
            return Strip.blank(width)
        name = self.names[place]
        text = cell_text(HEADINGS.get(name, name.upper()))
        drawn = fitted(f" [{'x' if name in self.ticked else ' '}] {text}", width)
        return Strip([Segment(drawn, style_of("reverse" if place == self.cursor else ""))], width)

    def move(self, by: int, *, carried: bool = False) -> None:
        """Move the cursor, or the name under it."""
        to = min(max(self.cursor + by, 0), len(self.names) - 1)
        if carried:
            self.names.insert(to, self.names.pop(self.cursor))
        self.cursor = to
        self._first = min(max(self._first, to - self.size.height + 1), to)
        self.refresh()

    def tick(self) -> None:
        """Tick, or no longer."""
        self.ticked ^= {self.names[self.cursor]}
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Tick what was clicked."""
        event.stop()
        self.move(min(self._first + event.y, len(self.names) - 1) - self.cursor)
        self.tick()


class Chooser(ModalScreen[tuple[str, ...] | None]):
    """A frame around boxes; Enter keeps what is ticked."""

    DEFAULT_CSS = """
    Chooser { align: center middle; }
    Chooser > Boxes { border: round; width: 64; max-width: 100%; background: ansi_default; }
    """
    BINDINGS: ClassVar = [
        Binding("escape,q", "dismiss_nothing"), Binding("enter,c", "keep"),
        Binding("up", "move(-1)"), Binding("down", "move(1)"),
        Binding("pageup", "move(-10)"), Binding("pagedown", "move(10)"),
        Binding("space", "tick"), Binding("plus", "carry(1)"), Binding("minus", "carry(-1)"),
    ]  # fmt: skip

    def __init__(self, known: Sequence[str], shown: Sequence[str]) -> None:
        super().__init__()
        names = dict.fromkeys((*shown, *USUAL, *known))
        self._boxes = Boxes(tuple(names), shown)

    def compose(self) -> ComposeResult:
        """Return the boxes."""
        self._boxes.border_title = "Columns"
        self._boxes.border_subtitle = "Space: show  - +: move  Enter: keep  Esc: leave"
        self._boxes.styles.height = min(len(self._boxes.names) + _FRAME, self.app.size.height)
        yield self._boxes

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        self._boxes.move(by)

    def action_carry(self, by: int) -> None:
        """Move the column to the left or to the right."""
        self._boxes.move(by, carried=True)

    def action_tick(self) -> None:
        """Show a column, or no longer."""
        self._boxes.tick()

    def action_keep(self) -> None:
        """Take the columns that are ticked, in their order."""
        chosen = (name for name in self._boxes.names if name in self._boxes.ticked)
        self.dismiss(tuple(chosen) or None)

    def action_dismiss_nothing(self) -> None:
        """Leave all as it was."""
        self.dismiss(None)
