"""The log: one line of printable ASCII for each event, whoever wrote what is in it."""

import logging

from pfscope.server.logs import OneLine


def line(message, error=None):
    info = (type(error), error, None) if error else None
    record = logging.LogRecord("x", logging.ERROR, "x.py", 1, "%s", (message,), info)
    return OneLine("pfscope: %(levelname)s: %(message)s").format(record)


def test_no_text_makes_a_second_line_or_moves_the_cursor():
    assert line("a\nFORGED\r\x1b[2Ké\u2028") == (
        "pfscope: ERROR: a | FORGED\\u000d\\u001b[2K\\u00e9\\u2028"
    )


def test_a_traceback_is_on_the_same_line():
    assert line("it broke", ValueError("why\nso")).endswith("it broke | ValueError: why | so")


def test_a_long_line_keeps_its_end():
    text = line("x" * 100_000 + "the reason")
    assert len(text) < 5000
    assert text.endswith("the reason")
