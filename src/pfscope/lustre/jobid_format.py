"""A site's `jobid_name` as patterns: what a whole id looks like, its beginnings, and its remains.

A format is a row of fields (`%j`, `%u`, …) and of literal text between them. From it follow, as
regular expressions over bytes, the texts that such an id can become on its way through Lustre.
"""

import re
from dataclasses import dataclass
from typing import Final

from pfscope.errors import UsageError

SLURM_JOB: Final = r"[0-9]+(?:[_+][0-9]+)?"
"""A job, `123`; a task of an array as Slurm shows it, `123_4`; a part of a heterogeneous job."""

_TOKEN: Final = re.compile(rb"(?P<either>%j\?%H)|%(?:\.(?P<width>\d+))?(?P<code>.)|(?P<text>[^%]+)")
_HOST: Final = rb"[A-Za-z0-9][A-Za-z0-9_-]{0,%d}"
_DOMAIN: Final = rb"(?P<domain>\.[A-Za-z0-9._-]*)?"
_NUMBERS: Final = {b"g": b"group", b"p": b"process", b"u": b"user"}
_CODES: Final = "%e %g %h %H %j %p %u, %j?%H, and %% for a percent sign"


@dataclass(frozen=True, slots=True)
class JobidFormat:
    """Every way to read the ids of one format; named groups are the fields that can be trusted.

    A group `domain` is what follows a host that should be short.
    """

    text: str
    whole: re.Pattern[bytes]
    has_job: bool
    open_end: str | None
    """The field that the format ends with: it loses its end when Lustre cuts an id."""
    beginnings: tuple[re.Pattern[bytes], ...]
    """Whole fields, the most first, then a field that may be cut and is not to be trusted."""
    ends: tuple[re.Pattern[bytes], ...]
    """The first fields before anything, or the last two fields or more behind anything."""
    remains: tuple[re.Pattern[bytes], ...]
    """What shows that an id was of this format, while nothing in it can be trusted."""


@dataclass(frozen=True, slots=True)
class _Token:
    whole: bytes
    """The pattern of the token, complete; a job may be missing."""
    cut: bytes = b""
    """The pattern of what may be left of a field."""
    fields: tuple[str, ...] = ()


def compile_format(text: str, job: str = SLURM_JOB) -> JobidFormat:
    """Compile a `jobid_name` such as `%j:%u:%H`; `job` is the pattern of the site's job ids."""
    tokens = _tokens(text, job.encode())
    at = [i for i, token in enumerate(tokens) if token.fields]
    names = [name for token in tokens for name in token.fields]
    if not names or len(names) != len(set(names)):
        raise UsageError(f"jobid_name {text!r} needs {_CODES}, none of them twice")
    begin = tokens[0]
    remains = [begin.cut] if begin.cut else []
    if _numeric(begin) and len(tokens) > 1:
        remains.append(begin.whole + tokens[1].whole + b".*")
    return JobidFormat(
        text,
        _pattern(b"", tokens),
        "job" in names,
        names[-1] if tokens[-1].fields else None,
        tuple(_pattern(b"", tokens[:i], tokens[i].cut) for i in reversed(at[1:])),
        (
            *(_pattern(b".*", tokens[i - 1 :]) for i in at[1:-1]),
            *(_pattern(b"", tokens[:i], b".*") for i in reversed(at[1:]) if _numeric(begin)),
        ),
        tuple(re.compile(r, re.DOTALL) for r in remains),
    )


def _numeric(token: _Token) -> bool:
    """Tell whether a field is so narrow that finding it where it belongs means something."""
    return bool(token.fields) and token.fields[0] not in ("executable", "node")


def _pattern(head: bytes, tokens: list[_Token], tail: bytes = b"") -> re.Pattern[bytes]:
    return re.compile(head + b"".join(t.whole for t in tokens) + tail, re.DOTALL)


def _tokens(text: str, job: bytes) -> list[_Token]:
    tokens = []
    raw = text.encode()
    while raw:
        match = _TOKEN.match(raw)
        token = match and _token(match, job)
        if match is None or token is None:
            raise UsageError(f"jobid_name {text!r}: {raw[:2].decode()!r} is none of {_CODES}")
        tokens.append(token)
        raw = raw[match.end() :]
    return tokens


def _token(match: re.Match[bytes], job: bytes) -> _Token | None:
    host = (b"(?P<node>%s)" % _HOST) % (int(match["width"] or 64) - 1)
    if match["either"]:
        either = b"(?:(?P<job>%s)|%s%s)" % (job, host, _DOMAIN)
        return _Token(either, b"[A-Za-z0-9._-]*", ("job", "node"))
    if match["text"]:
        return _Token(re.escape(match["text"]))
    width = b"%d" % int(match["width"] or 10)
    code = match["code"]
    if code in _NUMBERS:
        name = _NUMBERS[code]
        return _Token(b"(?P<%s>[0-9]{1,%s})" % (name, width), b"[0-9]*", (name.decode(),))
    return {
        b"%": _Token(b"%"),
        b"e": _Token(rb"(?P<executable>.{1,15})", rb".{0,15}", ("executable",)),
        b"j": _Token(b"(?P<job>%s)?" % job, rb"[0-9_+]*", ("job",)),
        b"h": _Token(host + rb"(?:\.[A-Za-z0-9._-]+)?", rb"[A-Za-z0-9._-]*", ("node",)),
        b"H": _Token(host + _DOMAIN, rb"[A-Za-z0-9._-]*", ("node",)),
    }.get(code)
