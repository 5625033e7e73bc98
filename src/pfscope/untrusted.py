"""The only ways in which text that users wrote may leave the program: one function for each place.

A terminal and a table get printable ASCII; a CSV cell is also safe to open in a spreadsheet; a page
shows text as text, its figures too.
"""

import html
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


def printable(text: str) -> str:
    r"""Return text that moves no cursor and changes no colour: what is not printable is `\xHH`.

    >>> printable("wget\x1b[2J"), printable("1.2 k/s, – is not known")
    ('wget\\x1B[2J', '1.2 k/s, – is not known')
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def cell_text(text: str) -> str:
    r"""Return text of which each character takes one cell of any terminal: printable ASCII.

    >>> cell_text("r01c07"), cell_text("e\u0301\u202e")
    ('r01c07', 'e\\xCC\\x81\\xE2\\x80\\xAE')
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if " " <= c <= "~" else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    raw = character.encode("utf-8", "surrogatepass")
    return "".join(f"\\x{byte:02X}" for byte in raw)


def csv_cell(text: str) -> str:
    """Return `text` so that no spreadsheet takes it for a formula: an apostrophe goes before.

    >>> csv_cell("=1+1"), csv_cell("wget.1000")
    ("'=1+1", 'wget.1000')
    """
    return "'" + text if _FORMULA.match(text) else text


def file_name(text: str) -> str:
    """Return `text` as the name of a file: no path, nothing hidden, not too long.

    >>> file_name("08-mdt-open-../../etc"), file_name(".x")
    ('08-mdt-open-------etc', '-x')
    """
    return re.sub(r"[^A-Za-z0-9_-]", "-", text)[:100]


def html_text(text: str) -> str:
    """Return `text` for HTML, between tags or in a quoted attribute.

    >>> html_text('<script>"')
    '&lt;script&gt;&quot;'
    """
    return html.escape(text)


def plotly_text(text: str) -> str:
    """Return `text` for a label of Plotly, which reads tags, templates and TeX in labels.

    >>> plotly_text("<b>%{x} $x$")
    '&lt;b&gt;&#37;{x} &#36;x&#36;'
    """
    escaped = html.escape(text, quote=False)
    return escaped.replace("$", "&#36;").replace("%{", "&#37;{")


def script_data(json_text: str) -> str:
    """Return JSON that can stand in a script element and cannot end it.

    >>> script_data('["</script>"]')
    '["\\\\u003c/script>"]'
    """
    return json_text.replace("<", "\\u003c")
