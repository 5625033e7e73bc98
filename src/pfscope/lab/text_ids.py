"""How each release prints a job id: raw, with `?`, or as `\\xHH` in quotes.

An id ends at its first NUL, as a C string does, so printed ids never contain one.
"""

from functools import lru_cache
from typing import Literal

Quoting = Literal["raw", "question", "hex", "hex-lenient"]

_HIGH_LETTERS = bytes(b for b in range(0xC0, 0x100) if b not in (0xD7, 0xF7))
_ALPHANUMERIC = frozenset(
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" + _HIGH_LETTERS
)
"""The kernel takes Latin-1 letters for letters."""
_PRINTABLE = frozenset((*range(0x20, 0x7F), *range(0xA0, 0x100)))
_LITERAL = {
    "hex": _ALPHANUMERIC | frozenset(b".@-_"),
    "hex-lenient": _ALPHANUMERIC | frozenset(b".@-_:/"),
}


@lru_cache(maxsize=1 << 18)
def spelled_id(quoting: Quoting, raw: bytes) -> bytes:
    r"""Return the id as this kind of release prints it.

    >>> spelled_id("hex", b"7:1000:n1"), spelled_id("hex-lenient", b"7:1000:n1")
    (b'"7\\x3A1000\\x3An1"', b'"7:1000:n1"')
    """
    raw = raw.partition(b"\0")[0]
    if quoting == "raw":
        return raw
    if quoting == "question":
        return bytes(b if b in _PRINTABLE else ord("?") for b in raw)
    return _escaped(quoting, raw)


def _escaped(quoting: Literal["hex", "hex-lenient"], raw: bytes) -> bytes:
    literal = _LITERAL[quoting]
    text = b"".join(bytes((b,)) if b in literal else b"\\x%02X" % b for b in raw)
    # A bare colon or a leading @ would mean something in YAML.
    reserved = quoting == "hex-lenient" and (b":" in raw or raw.startswith(b"@"))
    return b'"%s"' % text if reserved or text != raw else text
