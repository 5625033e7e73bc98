"""Tables on a terminal: as wide as it is, coloured only there, and no cell breaks out of it."""

import io
import re

import pytest

from pfscope.cli.figures import cells_of
from pfscope.cli.table import BOLD, HOT, Cell, Column, print_table
from pfscope.figures import abbreviated


class Terminal(io.StringIO):
    """Where a table is looked at."""

    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def usual(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


def shown(columns, rows, out, monkeypatch, width=80):
    monkeypatch.setenv("COLUMNS", str(width))
    print_table(columns, rows, out)
    return out.getvalue()


COLUMNS = [Column("user"), Column("executable"), Column("rate", right=True)]
ROWS = [[Cell("1001"), Cell("a" * 60), Cell("1.2 k/s")], [Cell("0"), Cell("b"), Cell("5 /s", HOT)]]


def test_colours_are_for_terminals_that_want_them(monkeypatch):
    assert f"\x1b[{BOLD}muser" in shown(COLUMNS, ROWS, Terminal(), monkeypatch)
    assert f"\x1b[{HOT}m   5 /s\x1b[0m" in shown(COLUMNS, ROWS, Terminal(), monkeypatch)
    assert "\x1b" not in shown(COLUMNS, ROWS, io.StringIO(), monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in shown(COLUMNS, ROWS, Terminal(), monkeypatch)
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in shown(COLUMNS, ROWS, Terminal(), monkeypatch)


@pytest.mark.parametrize("width", [100, 60, 40, 25, 12, 3])
def test_a_line_is_never_wider_than_the_terminal(monkeypatch, width):
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown(COLUMNS, ROWS, Terminal(), monkeypatch, width))
    assert max(map(len, text.splitlines())) <= width
    assert len(text.splitlines()) == 3


def test_long_texts_give_way_before_numbers(monkeypatch):
    text = shown(COLUMNS, ROWS, Terminal(), monkeypatch, 40)
    assert "1.2 k/s" in text
    assert "aaa…" in text


def test_what_is_piped_is_not_cut(monkeypatch):
    assert "a" * 60 in shown(COLUMNS, ROWS, io.StringIO(), monkeypatch, 10)


def test_no_cell_gets_through_to_the_terminal(monkeypatch):
    hostile = "\x1b]0;title\x07\x9b2J\r\n\u202e[bold]x[/]"
    text = shown([Column("a")], [[Cell(hostile)]], io.StringIO(), monkeypatch)
    assert text.splitlines()[1] == r"\x1B]0;title\x07\xC2\x9B2J\x0D\x0A\xE2\x80\xAE[bold]x[/]"


def test_a_terminal_without_unicode_gets_ascii(monkeypatch):
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    print_table([Column("a"), Column("b")], [[Cell("–"), Cell("é")]], out)
    out.flush()
    assert raw.getvalue().decode().splitlines()[1] == "-  ?"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "/s", "0 /s"),
        (999, "", "999"),
        (999.7, "", "1 k"),
        (1_234_567_890, "B/s", "1.23 GB/s"),
        (1200, "/s", "1.2 k/s"),
        (0.0123, "/s", "0.0123 /s"),
        (-1500, "B", "-1.5 kB"),
        (5e21, "B", "5e+03 EB"),
    ],
)
def test_numbers_are_abbreviated(value, unit, text):
    assert abbreviated(value, unit) == text


def test_a_column_is_read_by_its_name():
    names = ["rank", "share", "wait_s", "mean_us", "mean_size", "total", "rate", "system", "user"]
    row = [1200, 0.753, 0.0042, 1250, 4096, 1e9, 2e6, True, None]
    assert [cell.text for cell in cells_of(names, row, "bytes")] == [
        "1200", "75.3%", "4.2 ms", "1.25 ms", "4.1 kB", "1 GB", "2 MB/s", "yes", "–",
    ]  # fmt: skip


def test_each_operation_has_its_unit_where_they_stand_side_by_side():
    names = ["operation", "rate"]
    assert cells_of(names, ["read_bytes", 2e6], None)[1].text == "2 MB/s"
    assert cells_of(names, ["open", 2e6], None)[1].text == "2 M/s"
