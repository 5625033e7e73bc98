"""The window without its keys: pictures come in, what is wanted goes out, all is drawn."""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.message import Message

from pfscope.errors import PfscopeError, UsageError
from pfscope.times import time_us
from pfscope.top import incidents, state
from pfscope.top.bars import Hints, Lines
from pfscope.top.columns import USUAL
from pfscope.top.draw import Screenful, head_lines, status_line, table_of
from pfscope.top.feed import Event, Feed, Incidents, Order, Shown, Trouble
from pfscope.top.history import History
from pfscope.top.keys import KEYS
from pfscope.top.picture import Picture
from pfscope.top.player import Player
from pfscope.top.source import Source
from pfscope.top.table import Table
from pfscope.top.view import View

_TICK_S: Final = 1.0
_NO_PROJECTS: Final = "projects come from Slurm's accounting: pfscope import slurm"


def _now_us() -> int:
    return time.time_ns() // 1000


@dataclass(frozen=True)
class Wanted:
    """How a window opens."""

    view: View
    at: str | None = None
    interval_s: float = _TICK_S
    columns: tuple[str, ...] | None = None
    """Instead of those that are remembered."""


class Window(App[None]):
    """What keys do is in `Top`."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar = [
        *(Binding(key.names, key.action, show=False, priority="tab" in key.names)
          for key in KEYS),
        Binding("ctrl+c,ctrl+q", "quit", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", show=False, priority=True),
    ]  # fmt: skip
    CSS = "Screen { background: ansi_default; color: ansi_default; }"

    class Heard(Message):
        """The feed told something."""

        def __init__(self, event: Event) -> None:
            super().__init__()
            self.event = event

    def __init__(
        self,
        source: Source,
        wanted: Wanted,
        clock_us: Callable[[], int] = _now_us,
        remembers: Path | None = None,
    ) -> None:
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"
        self.failure: PfscopeError | None = None
        """Why it ended before there was anything to show."""
        self._source, self._clock_us, self._remembers = source, clock_us, remembers
        self._feed = Feed(source, self._told)
        self._player = Player(clock_us, live=source.pushes)
        self._views = [wanted.view]
        self._at, self._interval_s = wanted.at, wanted.interval_s
        kept = state.remembered(remembers) if remembers else None
        self._columns: tuple[str, ...] | None = wanted.columns or kept
        self._screenful = Screenful(source.where, History())
        self._again_us: int | None = None
        self._drawn_s = -1e9
        self._waits = False
        """Something was asked for that did not come yet."""

    def compose(self) -> ComposeResult:
        """Return the parts from top to bottom."""
        yield Lines("head")
        yield Table()
        yield Lines("status")
        yield Hints(self._act)

    def on_mount(self) -> None:
        """Ask for what is wanted at first."""
        self._draw()
        self._feed.start()
        self._want()
        self.set_interval(self._interval_s, self._tick)
        if self._driver and not self.is_headless:
            self._loop_signals()

    def _loop_signals(self) -> None:
        """End as on `q` when the session goes away: the terminal is left as it was."""
        import asyncio

        for number in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, self.exit)

    def on_unmount(self) -> None:
        """Let go of the source."""
        self._feed.end()

    def _told(self, event: Event) -> None:
        """Take what the feed tells into this thread."""
        self.post_message(self.Heard(event))

    @property
    def _view(self) -> View:
        return self._views[-1]

    @property
    def _picture(self) -> Picture | None:
        return self._screenful.picture

    # What comes

    def on_window_heard(self, message: Heard) -> None:
        """Take in what the feed told."""
        event = message.event
        self._waits &= isinstance(event, Incidents)
        if isinstance(event, Shown):
            self._take(event)
        elif isinstance(event, Incidents):
            self._screenful.incidents = incidents.read(event.found)
            self._draw()
        elif isinstance(event, Trouble):
            self._fail(event)
        else:
            raise event.fault

    def _take(self, shown: Shown) -> None:
        picture, order = shown.picture, shown.order
        newest = order.at_us is None
        self._player.heard(picture.time_us, picture.step_us, newest=newest)
        stay = self._screenful.view and replace(self._screenful.view, typed=order.view.typed)
        self._screenful.take(order.view, picture, keeps_place=stay == order.view)
        self._screenful.trouble = ""
        self._again_us = None
        if missing := self._missing(picture):
            self._screenful.say(f"nobody does anything that is called {', '.join(missing)}")
        if picture.by[0] == "project" and all(names[0] is None for names, _ in picture.rows):
            self._screenful.say(_NO_PROJECTS)
        if self._at is not None:  # times before the newest observation can be told only now
            at, self._at = self._at, None
            self._go(at)
            return
        soon = time.monotonic() - self._drawn_s < self._interval_s
        if not soon or not newest or not self._screenful.keeps_place:
            self._draw()  # else the next tick does

    def _missing(self, picture: Picture) -> list[str]:
        """Return columns that were wanted and that there are not."""
        known = {*USUAL, *picture.measures}
        return [name for name in self._columns or () if name not in known]

    def _fail(self, trouble: Trouble) -> None:
        if self._picture is None:
            self.failure = trouble.error
            self.exit()
            return
        if trouble.again_s is None:
            self._screenful.say(str(trouble.error))
            self._undo(trouble.error)
        else:
            self._again_us = self._clock_us() + round(trouble.again_s * 1e6)
            self._screenful.trouble = str(trouble.error)
        self._draw()

    def _undo(self, error: PfscopeError) -> None:
        """Go back to what could be shown, where what is wanted now makes no sense."""
        shown = self._screenful.view
        if isinstance(error, UsageError) and shown is not None and shown != self._view:
            self._views[-1] = shown
            self._want()

    def _want(self) -> None:
        self._waits = True
        self._feed.want(Order(self._view, self._player.at_us))

    def _tick(self) -> None:
        # The past runs no faster than it can be answered: what comes late is shown, too.
        if not self._waits and self._player.tick(self._interval_s):
            self._want()
        self._draw()

    # What is drawn

    def _draw(self) -> None:
        if not self.is_running or not self.screen_stack:
            return
        base = self.screen_stack[0]
        width, height = self.size
        seen, table = self._screenful, base.query_one(Table)
        seen.now_us, seen.again_us = self._clock_us(), self._again_us
        seen.typed = self._view.typed
        base.query_one("#head", Lines).show(head_lines(seen, self._player, width, height))
        if seen.picture is not None:
            columns, rows = table_of(seen, self._columns, width)
            here = table.here.names if table.here and seen.keeps_place else None
            table.said = "nobody does anything" if not seen.typed else "no name contains that"
            table.show(columns, rows, here)
            seen.keeps_place = True
        base.query_one("#status", Lines).show([status_line(seen, self._view, table, width)])
        self._drawn_s = time.monotonic()

    def on_resize(self, _event: events.Resize) -> None:
        """Lay all out anew."""
        self.call_after_refresh(self._draw)

    def _act(self, action: str) -> None:
        self.run_worker(self.run_action(action))

    def _go(self, text: str) -> None:
        newest = self._player.end_us()
        now_us = self._clock_us() if newest is None else newest
        try:
            self._player.go(time_us(text, now_us=now_us))
        except UsageError as error:
            self._screenful.say(str(error))
        self._want()
        self._draw()
