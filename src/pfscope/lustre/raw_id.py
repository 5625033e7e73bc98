"""The raw bytes of an entry id, recovered from the spelling of whichever release printed it.

One id has three spellings: plain (up to 2.15.1), quoted with every `:` and `/` as `\\xHH` (2.15.2
to 2.15.8), quoted with those two literal (2.16 and later). Only a text that these releases could
have quoted is unquoted: before them a quote is a byte that somebody put into the id.
"""

import re

_QUOTED = re.compile(rb'"((?:[0-9A-Za-z.@_:/\xC0-\xD6\xD8-\xF6\xF8-\xFF-]|\\x[0-9A-Fa-f]{2})*)"')
_NEEDS_QUOTES = re.compile(rb"@|.*[:\\]", re.DOTALL)
_ESCAPE = re.compile(rb"\\x([0-9A-Fa-f]{2})")


def raw_id(spelling: bytes, *, quoting_release: bool = False) -> bytes:
    r"""Return the id's bytes from what stands behind `job_id:`, blanks around it removed.

    `quoting_release` says that the entry around it is surely of a release that quotes.

    >>> raw_id(rb'"11317854\x3A17627127\x3Ar01c01"')
    b'11317854:17627127:r01c01'
    >>> raw_id(rb'11317854\x3A17627127')
    b'11317854\\x3A17627127'
    """
    if not spelling.startswith(b'"'):
        return spelling
    quoted = _QUOTED.fullmatch(spelling)
    if quoted is None:
        return spelling
    inner: bytes = quoted.group(1)
    if not quoting_release and not _NEEDS_QUOTES.match(inner):
        return spelling
    return _ESCAPE.sub(lambda m: bytes([int(m.group(1), 16)]), inner)
