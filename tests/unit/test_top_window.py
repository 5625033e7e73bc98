"""The terminal's window: what stands on it at several sizes, and what each key does."""

import json
import os
import time
from pathlib import Path

import pytest

from pfscope.errors import InputError, UsageError
from pfscope.top.view import View
from tests.support.top_site import HOSTILE, INCIDENT, StoreSource
from tests.support.top_window import drive, screen, styled, window

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "top"
LOADED = "1001"


def seen(app, *keys, until, size=(80, 24), gone=()):
    """Press keys, and return the screen when a text is there."""

    async def script(hand):
        await hand.until("metadata storm")
        await hand.press(*keys)
        return await hand.until(*([until] if isinstance(until, str) else until), gone=gone)

    return drive(app, script, size)


@pytest.mark.parametrize(
    ("name", "size", "keys", "until"),
    [
        ("users-80x24", (80, 24), "", "by user"),
        ("users-60x12", (60, 12), "", "by user"),
        ("jobs-120x30", (120, 30), "j", "by job, user"),
        ("detail-80x24", (80, 24), "d", "OPEN"),
        ("executables-80x24", (80, 24), "e", "by executable"),
        ("keys-80x24", (80, 24), "?", "quit"),
    ],
)
def test_the_screen_is_as_it_was_looked_at(name, size, keys, until):
    shown = seen(window(), *keys, until=until, size=size) + "\n"
    kept = GOLDEN / f"{name}.txt"
    if "PFSCOPE_GOLDEN" in os.environ:
        kept.write_text(shown, encoding="utf-8")
    assert shown == kept.read_text(encoding="utf-8")


def test_no_line_is_wider_than_the_terminal_and_columns_stay_aligned():
    lines = seen(window(), "e", until="by executable").splitlines()
    assert all(len(line) <= 80 for line in lines)
    head = next(n for n, line in enumerate(lines) if "EXECUTABLE" in line)
    ends = [len(line) for line in lines[head : head + 6]]
    assert len(set(ends)) == 1, lines[head : head + 6]


def test_hostile_names_are_text_and_nothing_else():
    app = window()
    shown = seen(app, "e", until="[red]x")
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "[red]x\\x1B[2J" in shown.replace("…", "") or "[red]x\\x1B" in shown
    assert HOSTILE not in shown


@pytest.mark.parametrize(
    ("key", "by", "first"),
    [("f", "filesystem", "scratch"), ("s", "server", "mds1"), ("t", "target", "scratch-MDT0000"),
     ("j", "job, user", "77"), ("n", "node", "r01c0"), ("e", "executable", "python"),
     ("p", "project", "-")],
)  # fmt: skip
def test_one_key_for_each_group(key, by, first):
    until = "pfscope import slurm" if key == "p" else f"by {by}"
    shown = seen(window(), key, until=(until, f" {by.split(',')[0].upper()} "))
    head = next(n for n, line in enumerate(shown.splitlines()) if "LOAD▼" in line)
    assert shown.splitlines()[head + 1][2:].startswith(first)


@pytest.mark.parametrize(
    ("keys", "column", "first"),
    [("b", "BYTES/s▼", "1002"), ("r", "READ/s▼", "1002"), ("i", "IOPS▼", "1001"),
     ("m", "METADATA▼", "1001"), (["greater_than_sign"], "IOPS▼", "1001"),
     (["less_than_sign"], "READS▼", "1002")],
)  # fmt: skip
def test_keys_sort(keys, column, first):
    shown = seen(window(), *keys, until=column)
    head = next(n for n, line in enumerate(shown.splitlines()) if column in line)
    assert shown.splitlines()[head + 1][2:].startswith(first)


def test_enter_looks_in_and_esc_comes_back_with_the_cursor_where_it_was():
    async def script(hand):
        await hand.until("by user", "1002")
        await hand.press("down", "enter")
        await hand.until("user 1002 › by job", "78", gone=["r01c"])
        await hand.press("enter")
        await hand.until("job 78 › by node", "r01c05")
        await hand.press("enter")
        await hand.until("node r01c05 › by target", "scratch-OST0000")
        await hand.press("enter")
        await hand.until("there is nothing below")
        await hand.press("escape", "escape", "escape")
        await hand.until("1003", gone=["›"])

    drive(window(), script)


def test_what_has_no_name_can_be_looked_into():
    async def script(hand):
        await hand.until("by user")
        await hand.press("j", *["down"] * 9, "enter")
        shown = await hand.until("job - › user 1003 › by node", "login1")
        assert "r01c" not in shown.split("NODE")[1]

    app = window(view=View(where=(("user", ("1003",)),)))
    drive(app, script)


def test_a_filter_works_while_it_is_typed_and_esc_takes_it_back():
    async def script(hand):
        await hand.until("by user", "1003")
        await hand.press("n")
        await hand.until("r01c07")
        await hand.press("slash", "c", "0", "7")
        await hand.until("containing c07", "r01c07", gone=["r01c05"])
        await hand.asked(node=["*c07*"])
        await hand.press("escape")
        await hand.until("r01c05", gone=["containing"])
        await hand.press("slash", "q", "enter")
        await hand.until("no name contains that")
        await hand.press("escape")
        await hand.until("r01c05")

    drive(window(), script)


def test_a_click_sorts_and_a_second_one_looks_in():
    async def script(hand):
        shown = await hand.until("metadata storm", "1002")
        lines = shown.splitlines()
        y = next(n for n, line in enumerate(lines) if "LOAD▼" in line)
        await hand.pilot.click(offset=(lines[y].index("READ/s") + 2, y))
        shown = await hand.until("READ/s▼")
        y = next(n for n, line in enumerate(shown.splitlines()) if line[2:].startswith("1003"))
        await hand.pilot.click(offset=(5, y))
        await hand.pilot.click(offset=(5, y))
        await hand.until("user 1003 › by job")
        x = screen(hand.app)[-1].index("n Node")
        await hand.pilot.click(offset=(x + 3, 23))
        await hand.until("user 1003 › by node")

    drive(window(), script)


def test_columns_are_chosen_and_remembered(tmp_path):
    kept = tmp_path / "state" / "top.json"

    async def script(hand):
        await hand.until("TREND")
        await hand.press("c")
        await hand.until("[x] TREND")
        await hand.press("down", "down", "space", "enter")
        await hand.until("SHARE", gone=["TREND"])

    drive(window(remembers=kept), script)
    assert "trend" not in json.loads(kept.read_text())["columns"]
    assert [p.name for p in kept.parent.iterdir()] == ["top.json"]

    async def again(hand):
        await hand.until("SHARE", "LOAD▼", gone=["TREND"])

    drive(window(remembers=kept), again)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"columns": []}', '{"columns": [1]}', "[" * 9999])
def test_a_spoilt_state_is_no_trouble(tmp_path, text):
    kept = tmp_path / "top.json"
    kept.write_text(text)

    async def script(hand):
        await hand.until("TREND", "LOAD▼")

    drive(window(remembers=kept), script)


def test_who_causes_an_incident_is_red_and_marked():
    app = window()

    async def script(hand):
        shown = await hand.until("! metadata storm on scratch-MDT0000, user 1001, job 77 (97%)")
        assert "! 1001" in shown
        assert "! 1002" not in shown
        await hand.press("down")
        await hand.pilot.pause()
        assert (styled(app, "1001").color.name, styled(app, "1002").color) == ("red", None)
        await hand.press("exclamation_mark")
        await hand.until("Open files once.", f"pfscope incidents {INCIDENT['id']}")

    drive(app, script)


def test_the_past_is_walked_through_and_left_again():
    async def script(hand):
        await hand.until("● live", "00:12:00Z")
        await hand.press("left")
        await hand.until("paused", "00:11:00Z")
        await hand.press("shift+left")
        await hand.until("00:01:00Z")
        await hand.press("right", "tab")
        await hand.until("00:03:00Z")
        await hand.press("space", "plus")
        await hand.until("▶ ×120")
        await hand.until("00:05:00Z")
        await hand.press("space")
        await hand.until("paused")
        await hand.press("at", *"-4m", "enter")
        await hand.until("00:08:00Z")
        await hand.press("end")
        await hand.until("● live", "00:12:00Z")

    drive(window(interval_s=0.1), script)


def test_playing_comes_to_the_end():
    async def script(hand):
        await hand.until("recorded", "00:12:00Z")
        await hand.press("left", "left", "space")
        await hand.until("recorded", "00:12:00Z", gone=["×"])

    drive(window(StoreSource(pushes=False), interval_s=0.2), script)


def test_it_can_open_in_the_past():
    async def script(hand):
        await hand.until("paused", "00:09:00Z")

    drive(window(StoreSource(pushes=False), at="-3m"), script)


def test_what_is_pushed_is_shown_with_what_was_before():
    source = StoreSource()

    async def script(hand):
        await hand.until("● live", "00:12:00Z")
        source.push("2022-10-27T00:11:00Z")
        await hand.until("00:11:00Z")
        source.push("2022-10-27T00:12:00Z")
        shown = await hand.until("00:12:00Z")
        (row,) = [line for line in shown.splitlines() if line[2:].startswith("1003")]
        assert "█" in row

    drive(window(source, interval_s=0.1), script)


def test_a_server_that_goes_away_is_asked_again_and_that_is_said(monkeypatch):
    monkeypatch.setattr("pfscope.top.feed.FIRST_PAUSE_S", 0.2)
    source = StoreSource()

    async def script(hand):
        await hand.until("● live")
        source.fails = [InputError("http://x does not answer: Connection refused")] * 2
        source._coming.put(None)
        await hand.until("no answer, trying again", "1001")
        await hand.until("● live", gone=["no answer"])

    drive(window(source, interval_s=0.1), script)


def test_the_past_runs_no_faster_than_it_is_answered():
    source = StoreSource(pushes=False)
    answer = source.now

    def slow(words):
        if "at" in words:
            time.sleep(0.3)
        return answer(words)

    source.now = slow

    async def script(hand):
        await hand.until("00:12:00Z")
        await hand.press("shift+left")
        await hand.until("00:02:00Z")
        await hand.press("plus", "plus", "plus", "space")
        await hand.until("00:03:00Z")
        await hand.until("00:04:00Z")

    drive(window(source, interval_s=0.05), script)


def test_a_fault_of_ours_ends_it_with_its_traceback():
    source = StoreSource()
    source.fails = [ZeroDivisionError("a fault")]
    app = window(source)

    async def script(hand):
        while app.return_code is None:
            await hand.pilot.pause(0.02)

    with pytest.raises(ZeroDivisionError, match="a fault"):
        drive(app, script)
    assert app.return_code == 1


def test_a_column_that_there_is_not_is_told():
    async def script(hand):
        await hand.until("nobody does anything that is called opne", "1001")

    drive(window(columns=("load", "opne")), script)


@pytest.mark.parametrize("error", [InputError("it does not answer"), UsageError("no such column")])
def test_without_any_answer_it_ends_with_the_reason(error):
    source = StoreSource()
    source.fails = [error]
    app = window(source)

    async def script(hand):
        while app.failure is None:
            await hand.pilot.pause(0.02)

    drive(app, script)
    assert app.failure is error


def test_a_question_that_is_refused_is_told_and_the_window_stays():
    source = StoreSource()

    async def script(hand):
        await hand.until("● live")
        source.fails = [UsageError("sort by something else")]
        await hand.press("b")
        await hand.until("sort by something else", "LOAD▼")
        await hand.asked(sort=["load"])

    drive(window(source), script)


def test_where_incidents_cannot_be_had_none_is_claimed():
    source = StoreSource()
    source.found = None

    async def script(hand):
        await hand.until("incidents are not known", "1001")

    drive(window(source), script)


@pytest.mark.parametrize("variable", [{"NO_COLOR": "1"}, {}])
def test_without_colour_nothing_is_coloured(monkeypatch, variable):
    for name, value in variable.items():
        monkeypatch.setenv(name, value)
    app = window()

    async def script(hand):
        await hand.until("! 1001")
        written = app.screen._compositor.render_full_update().render_segments(app.console)
        return [s for s in written if s] if not isinstance(written, str) else written

    written = drive(app, script)
    assert ("\x1b[1;31m" in written or ";31m" in written) is not bool(variable)
