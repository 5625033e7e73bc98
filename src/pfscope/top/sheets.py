"""Sheets over the window: the keys, the incidents, and the choice of columns."""

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import SelectionList, Static
from textual.widgets.selection_list import Selection

from pfscope.top.columns import HEADINGS, USUAL
from pfscope.top.head import LEVEL_STYLES
from pfscope.top.incidents import Incident
from pfscope.top.keys import KEYS
from pfscope.untrusted import cell_text

COLOURS: Final = """
Colours: red and ! is who causes a critical incident, or where it is; yellow a warning. A share is
red from half of all on, yellow from a fifth. Bars of servers: | is told of somebody, : of nobody;
the fullest is the highest load that was seen. LOAD is the part of the servers' load that a row
causes, SHARE its part of all, TREND what decides the order over the last observations.
"""


class Sheet(ModalScreen[None]):
    """Text over the window, until a key is pressed."""

    DEFAULT_CSS = """
    Sheet { align: center middle; }
    Sheet > VerticalScroll { border: round; width: 90%; max-width: 100; height: auto;
                             max-height: 95%; padding: 0 1; background: ansi_default; }
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


class Chooser(ModalScreen[tuple[str, ...] | None]):
    """Which columns there are, and which are shown."""

    DEFAULT_CSS = """
    Chooser { align: center middle; }
    Chooser > SelectionList { border: round; width: 40; height: auto; max-height: 90%;
                              background: ansi_default; }
    """
    BINDINGS: ClassVar = [
        Binding("escape", "cancel"), Binding("c,q", "keep"),
        Binding("enter", "keep", priority=True),
    ]  # fmt: skip

    def __init__(self, known: Sequence[str], shown: Sequence[str]) -> None:
        super().__init__()
        names = [*shown, *(n for n in (*USUAL, *known) if n not in shown)]
        self._names = list(dict.fromkeys(names))
        self._shown = set(shown)

    def compose(self) -> ComposeResult:
        """Return the list."""
        chosen: SelectionList[str] = SelectionList(*map(self._selection, self._names))
        chosen.border_title = "Columns"
        chosen.border_subtitle = "Space: choose  Enter: keep"
        yield chosen

    def _selection(self, name: str) -> Selection[str]:
        heading = HEADINGS.get(name, name.upper())
        return Selection(Text(cell_text(heading)), name, name in self._shown)

    def action_keep(self) -> None:
        """Take the columns as they are chosen, in their order."""
        chosen = set(self.query_one(SelectionList).selected)
        self.dismiss(tuple(name for name in self._names if name in chosen) or None)

    def action_cancel(self) -> None:
        """Leave them as they were."""
        self.dismiss(None)


def keys_sheet() -> Sheet:
    """Return the keys, in two columns."""
    lines = [f"{key.shown:>9}  {key.help}" for key in KEYS]
    half = -(-len(lines) // 2)
    text = "\n".join(
        f"{left:<44}{right}".rstrip()
        for left, right in zip(lines[:half], [*lines[half:], ""][:half], strict=True)
    )
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
