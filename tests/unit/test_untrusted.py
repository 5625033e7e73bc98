"""Text that users wrote leaves the program harmless."""

import pytest

from pfscope.untrusted import ascii_text, csv_cell, from_ascii_text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"wget.1000", "wget.1000"),
        (b"caf\xc3\xa9", r"caf\xC3\xA9"),
        (b"\x1b[31mred", r"\x1B[31mred"),
        (b"tab\there", r"tab\x09here"),
        (b"back\\slash", r"back\x5Cslash"),
        (b"\x7f\x00\xff", r"\x7F\x00\xFF"),
        (b" ~{}[]", " ~{}[]"),
    ],
)
def test_ascii_text(raw, shown):
    assert ascii_text(raw) == shown
    assert from_ascii_text(shown) == raw


def test_every_byte_comes_back():
    raw = bytes(range(256))
    assert from_ascii_text(ascii_text(raw)) == raw
    assert ascii_text(raw).isprintable()


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_begins_a_formula(start):
    assert csv_cell(start + "cmd") == "'" + start + "cmd"


def test_harmless_cells_stay_and_different_cells_stay_different():
    assert csv_cell("wget.1000") == "wget.1000"
    assert csv_cell("it's") == "it's"
    assert csv_cell("'=x") != csv_cell("=x")
