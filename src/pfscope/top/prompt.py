"""One line to type in: a filter, which works while it is typed, or a time."""

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding
from textual.widgets import Input

Heard = Callable[[str], None]


class Prompt(Input):
    """A prompt that goes away with Enter, which keeps what was typed, or Esc, which does not."""

    DEFAULT_CSS = """
    Prompt { height: 1; border: none; padding: 0; background: ansi_default; color: ansi_default; }
    Prompt:focus { border: none; }
    """
    BINDINGS: ClassVar = [Binding("escape", "give_up", show=False)]

    def __init__(self, text: str, typed: Heard | None, done: Heard) -> None:
        super().__init__(text, compact=True, select_on_focus=False)
        self._before, self._typed, self._done = text, typed, done

    def on_mount(self) -> None:
        """Take the keys."""
        self.focus()

    def on_input_changed(self, message: Input.Changed) -> None:
        """Tell what was typed so far."""
        if self._typed:
            self._typed(message.value)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Tell what was typed."""
        self.remove()
        self._done(message.value)

    def action_give_up(self) -> None:
        """Go back to what there was before."""
        self.remove()
        if self._typed:
            self._typed(self._before)
