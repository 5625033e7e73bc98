"""What keys and clicks do in the window."""

from dataclasses import replace

from pfscope.top import state
from pfscope.top.columns import NOT_SORTED, USUAL
from pfscope.top.picture import LOAD
from pfscope.top.prompt import Prompt
from pfscope.top.table import Table
from pfscope.top.view import View
from pfscope.top.window import Window

_TYPING_S = 0.2


class Top(Window):
    """`pfscope top`."""

    def check_action(self, action: str, _parameters: tuple[object, ...]) -> bool | None:
        """Leave keys to a sheet that lies over the window."""
        return len(self.screen_stack) == 1 or action in ("quit", "suspend_process")

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
        if not self._screenful.detail and self._view.sort not in (self._columns or USUAL):
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
        self._screenful.say(f"the past runs {self._player.speed} times as fast")
        self._draw()

    def action_live(self) -> None:
        """Go back to what happens now."""
        self._player.to_end()
        self._want()
        self._draw()

    # What is asked

    def action_filter(self) -> None:
        """Ask what names must contain, and show it while it is typed."""
        self._prompt(
            Prompt(self._view.typed, self._typed, self._typed),
            "type what names must contain: Enter keeps it, Esc does not",
        )

    def _typed(self, text: str) -> None:
        if text == self._view.typed:
            return
        self._views[-1] = replace(self._view, typed=text)
        self._screenful.say("")
        self._draw()
        view = self._view
        self.set_timer(_TYPING_S, lambda: self._want() if view is self._view else None)

    def action_go(self) -> None:
        """Ask for a time."""
        self._prompt(
            Prompt("", None, self._go), "type a time, such as 2022-10-27T08:30 or -2h: Enter goes"
        )

    def _prompt(self, prompt: Prompt, said: str) -> None:
        if not self.query(Prompt):
            self.mount(prompt, after=self.query_one(Table))
            self._screenful.say(said)
            self._draw()

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
        self.push_screen(Chooser(known, self._columns or USUAL), self._chosen)

    def _chosen(self, columns: tuple[str, ...] | None) -> None:
        if columns is None:
            return
        self._columns, self._screenful.detail = columns, False
        if self._remembers:
            self._screenful.say(state.remember(self._remembers, columns) or "")
        self._draw()
