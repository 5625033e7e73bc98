"""The window: keys and pictures come in, what is wanted goes out, and all is drawn from that."""

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
from pfscope.top.columns import NOT_SORTED, USUAL
from pfscope.top.draw import Screenful, head_lines, status_line, table_of
from pfscope.top.feed import Event, Feed, Incidents, Order, Shown, Trouble
from pfscope.top.history import History
from pfscope.top.keys import KEYS
from pfscope.top.picture import LOAD, Picture
from pfscope.top.player import Player
from pfscope.top.prompt import Prompt
from pfscope.top.source import Source
from pfscope.top.table import Table
from pfscope.top.view import View

_TICK_S: Final = 1.0
_TYPING_S: Final = 0.2
_NO_PROJECTS: Final = (
    "projects are known of jobs whose accounting was imported: pfscope import slurm"
)


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


class Top(App[None]):
    """`pfscope top`."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar = [
        *(Binding(key.names, key.action, show=False, priority=key.action == "quit")
          for key in KEYS),
        Binding("ctrl+z", "suspend_process", show=False),
    ]  # fmt: skip
    CSS = "Screen { layers: base; background: ansi_default; color: ansi_default; }"

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
        kept = wanted.columns or (state.remembered(remembers) if remembers else None)
        self._columns = kept or USUAL
        self._screenful = Screenful(source.where, History())
        self._again_us: int | None = None
        self._drawn_s = -1e9

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
        self.set_interval(min(self._interval_s, _TICK_S), self._tick)
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

    def on_top_heard(self, message: Heard) -> None:
        """Take in what the feed told."""
        event = message.event
        if isinstance(event, Shown):
            self._take(event)
        elif isinstance(event, Incidents):
            self._screenful.incidents = incidents.read(event.found)
            self._draw()
        else:
            self._fail(event)

    def _take(self, shown: Shown) -> None:
        picture, order = shown.picture, shown.order
        newest = order.at_us is None
        self._player.heard(picture.time_us, picture.step_us, newest=newest)
        stay = self._screenful.view and replace(self._screenful.view, typed=order.view.typed)
        self._screenful.take(order.view, picture, keeps_place=stay == order.view)
        self._screenful.trouble = ""
        self._again_us = None
        if picture.by[0] == "project" and all(names[0] is None for names, _ in picture.rows):
            self._screenful.say(_NO_PROJECTS)
        if self._at is not None:  # times before the newest observation can be told only now
            at, self._at = self._at, None
            self._go(at)
            return
        if time.monotonic() - self._drawn_s >= self._interval_s or not newest:
            self._draw()

    def _fail(self, trouble: Trouble) -> None:
        if self._picture is None:
            self.failure = trouble.error
            self.exit()
            return
        if trouble.again_s is None:
            self._screenful.say(str(trouble.error))
        else:
            self._again_us = self._clock_us() + round(trouble.again_s * 1e6)
            self._screenful.trouble = str(trouble.error)
        self._draw()

    def _want(self) -> None:
        self._feed.want(Order(self._view, self._player.at_us))

    def _tick(self) -> None:
        if self._player.tick(min(self._interval_s, _TICK_S)):
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

    # What is done

    def _act(self, action: str) -> None:
        self.run_worker(self.run_action(action))

    def check_action(self, action: str, _parameters: tuple[object, ...]) -> bool | None:
        """Leave keys to a sheet that lies over the window."""
        return len(self.screen_stack) == 1 or action == "quit"

    def _look(self, view: View) -> None:
        """Look at something else instead."""
        self._views[-1] = view
        self._want()
        self._draw()

    def action_group(self, group: str) -> None:
        """Group by something else."""
        self._look(self._view.grouped(group))

    def action_sort(self, measure: str) -> None:
        """Sort by a measure."""
        self._look(replace(self._view, sort=measure))

    def action_sort_beside(self, by: int) -> None:
        """Sort by the next column that is shown."""
        shown = [name for name in self._screenful.measures if name not in NOT_SORTED]
        sort = self._screenful.sort
        if sort in shown:
            self.action_sort(shown[(shown.index(sort) + by) % len(shown)])

    def on_table_sorted(self, message: Table.Sorted) -> None:
        """Sort by the column whose heading was clicked."""
        if message.column not in NOT_SORTED:
            self.action_sort(message.column)

    def on_table_picked(self) -> None:
        """Look into the row that was clicked."""
        self.action_deeper()

    def action_deeper(self) -> None:
        """Show what a row consists of."""
        here, seen = self.query_one(Table).here, self._screenful.view
        if here is None or seen is None:
            return
        view = replace(self._view, by=seen.by).deeper(here.names)
        if view is None:
            self._screenful.say("there is nothing below: Esc goes back")
        else:
            self._views.append(view)
            self._want()
        self._draw()

    def action_leave(self) -> None:
        """Give up what was typed, or go back to where one was before."""
        if self._view.typed:
            self._look(replace(self._view, typed=""))
        elif len(self._views) > 1:
            self._views.pop()
            self._want()
            self._draw()

    def action_detail(self) -> None:
        """Show every operation, or the usual columns again."""
        self._screenful.detail = not self._screenful.detail
        if not self._screenful.detail and self._view.sort not in (LOAD, *self._columns):
            self.action_sort(LOAD)
        self._draw()

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        self.query_one(Table).move(by)
        self._draw()

    def action_page(self, by: int) -> None:
        """Move the cursor by what is seen."""
        table = self.query_one(Table)
        self.action_move(by * table.room)

    def action_pause(self) -> None:
        """Stand still, or go on."""
        self._player.toggle()
        self._want()
        self._draw()

    def action_seek(self, steps: int) -> None:
        """Go some observations back or forward."""
        self._shift(steps * self._player.step_us)

    def action_jump(self, seconds: int) -> None:
        """Go some seconds back or forward."""
        self._shift(seconds * 10**6)

    def _shift(self, by_us: int) -> None:
        before = self._player.at_us
        self._player.shift(by_us)
        if self._player.at_us != before:
            self._want()
        self._draw()

    def action_speed(self, by: int) -> None:
        """Run faster or slower."""
        self._player.change_speed(by)
        self._screenful.say(f"the past runs ×{self._player.speed}")
        self._draw()

    def action_live(self) -> None:
        """Go back to what happens now."""
        self._player.to_end()
        self._want()
        self._draw()

    # What is asked

    def action_filter(self) -> None:
        """Ask what names must contain, and show it while it is typed."""
        self._prompt(Prompt("filter: ", self._view.typed, self._typed, self._typed))

    def _typed(self, text: str) -> None:
        if text == self._view.typed:
            return
        self._views[-1] = replace(self._view, typed=text)
        self._draw()
        view = self._view
        self.set_timer(_TYPING_S, lambda: self._want() if view is self._view else None)

    def action_go(self) -> None:
        """Ask for a time."""
        self._prompt(Prompt("time: ", "", None, self._go))

    def _go(self, text: str) -> None:
        newest = self._player.end_us()
        now_us = self._clock_us() if newest is None else newest
        try:
            self._player.go(time_us(text, now_us=now_us))
        except UsageError as error:
            self._screenful.say(str(error))
        self._want()
        self._draw()

    def _prompt(self, prompt: Prompt) -> None:
        if not self.query(Prompt):
            self.mount(prompt, after=self.query_one(Table))

    def action_keys(self) -> None:
        """Show the keys."""
        from pfscope.top.sheets import keys_sheet

        self.push_screen(keys_sheet())

    def action_incidents(self) -> None:
        """Show what goes on."""
        from pfscope.top.sheets import incidents_sheet

        self.push_screen(incidents_sheet(self._screenful.incidents or ()))

    def action_columns(self) -> None:
        """Let columns be chosen, and remember them."""
        from pfscope.top.chooser import Chooser

        known = self._picture.measures if self._picture else ()
        self.push_screen(Chooser(known, self._columns), self._chosen)

    def _chosen(self, columns: tuple[str, ...] | None) -> None:
        if columns is None:
            return
        self._columns, self._screenful.detail = columns, False
        if self._remembers:
            self._screenful.say(state.remember(self._remembers, columns) or "")
        self._draw()
