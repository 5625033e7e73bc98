"""Sheets over the window, with text to read: the keys, and the incidents that go on."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from pfscope.top.head import LEVEL_STYLES
from pfscope.top.incidents import Incident
from pfscope.top.keys import KEYS
from pfscope.untrusted import cell_text

COLOURS: Final = """
Red and ! is who causes a critical incident, or where; yellow a warning. A SHARE of all is red from
half on, yellow from a fifth. Bars: | is told of somebody, : of nobody; full is the most seen.
"""


class Sheet(ModalScreen[None]):
    """Text over the window, until a key is pressed."""

    DEFAULT_CSS = """
    Sheet { align: center middle; }
    Sheet > VerticalScroll { border: round; width: 80; max-width: 100%; height: auto;
                             max-height: 100%; padding: 0 1; background: ansi_default; }
    Sheet Static { height: auto; }
    """
    BINDINGS: ClassVar = [Binding("escape,q,question_mark,enter,exclamation_mark", "dismiss")]

    def __init__(self, title: str, text: Text) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        """Return the text in a frame."""
        with VerticalScroll() as frame:
            frame.border_title = self._title
            frame.border_subtitle = "Esc: back"
            yield Static(self._text)

    def on_click(self) -> None:
        """Go away."""
        self.dismiss()


def keys_sheet() -> Sheet:
    """Return the keys, in two columns."""
    lines = [f"{key.shown:>9} {key.help}" for key in KEYS]
    half = -(-len(lines) // 2)
    pairs = zip_longest(lines[:half], lines[half:], fillvalue="")
    text = "\n".join(f"{left:<40}{right}".rstrip() for left, right in pairs)
    about = " ".join(COLOURS.split())
    return Sheet("Keys", Text(f"{text}\n\n{about}"))


def incidents_sheet(incidents: Sequence[Incident]) -> Sheet:
    """Return the incidents that go on, with what to do."""
    text = Text()
    for incident in incidents:
        text.append(f"{incident.line()}\n", LEVEL_STYLES[incident.level] or "bold")
        text.append(f"  {cell_text(incident.advice)}\n")
        text.append(f"  pfscope incidents {cell_text(incident.name)}\n\n", "dim")
    if not incidents:
        text.append("Nothing goes on that the watch of the server found unusual.\n")
    return Sheet("Incidents", text)
