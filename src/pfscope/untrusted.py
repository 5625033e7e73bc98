"""The only ways in which text that users wrote may leave the program: one function for each place.

A terminal and a table get printable ASCII; a CSV cell is also safe to open in a spreadsheet.
"""

import re

_UNPRINTABLE = re.compile(rb"[^ -\[\]-~]")
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def ascii_text(raw: bytes) -> str:
    r"""Return ASCII in which every other byte, every control and the backslash is `\xHH`.

    >>> ascii_text("café\\n".encode())
    'caf\\xC3\\xA9\\x5Cn'
    """
    return _UNPRINTABLE.sub(lambda m: b"\\x%02X" % m.group()[0], raw).decode("ascii")


def from_ascii_text(text: str) -> bytes:
    """Undo `ascii_text`."""
    return re.sub(
        rb"\\x([0-9A-F]{2})", lambda m: bytes([int(m.group(1), 16)]), text.encode("ascii")
    )


def csv_cell(text: str) -> str:
    """Return `text` so that no spreadsheet takes it for a formula: an apostrophe goes before.

    >>> csv_cell("=1+1"), csv_cell("wget.1000")
    ("'=1+1", 'wget.1000')
    """
    return "'" + text if _FORMULA.match(text) else text
