"""The meta object of a frame: values to ASCII JSON and back, each field checked on the way in.

Whatever the bytes are, reading ends with a value that keeps its promises or with a `FrameError`.
"""

import json
import math
from typing import Any, Dict, List, Mapping, NamedTuple, NoReturn, Tuple

from pfscope.frames.errors import FrameError
from pfscope.frames.record import META_LIMIT

_MAX_INTEGER = (1 << 63) - 1
_NOT_IN_NAMES = frozenset("\n\r\0")


class Origin(NamedTuple):
    """Where and when a frame was made; `(server, epoch, sequence)` names it for ever."""

    server: str
    epoch: str
    """An agent's: the server's boot id, a dot, and letters drawn anew at each start."""
    sequence: int
    """Counts an agent's frames from 0 without gaps; in imported dumps, seconds since 1970."""
    wall_ns: int
    """The server's wall clock when the collection began, nanoseconds since 1970."""
    monotonic_ns: int = 0
    """The server's monotonic clock at the same time."""
    interval_s: float = 0.0
    """The interval that is configured; 0 when there is none."""
    effective_interval_s: float = 0.0
    """The interval that is kept at present; larger where reading takes long."""
    filesystems: Tuple[str, ...] = ()


class SectionInfo(NamedTuple):
    """What one section of a frame holds, without its text."""

    name: str
    """Lustre's parameter name in lctl's dotted form, an absolute path, or `lctl`."""
    raw_bytes: int
    duration_us: int
    """How long reading it took."""


class Meta(NamedTuple):
    """Everything in a frame but the texts."""

    origin: Origin
    contents: Tuple[SectionInfo, ...]
    notes: Mapping[str, Any]


def encode_meta(meta: Meta) -> bytes:
    """Return the meta object's bytes (the wall time is in the head).

    Names that `decode_meta` would refuse are a `FrameError` here already.
    """
    origin = meta.origin
    for name in (origin.server, origin.epoch) + tuple(origin.filesystems):
        _name(name)
    for info in meta.contents:
        _name(info.name)
    fields = dict(origin._asdict(), notes=meta.notes)
    fields["sections"] = [list(info) for info in meta.contents]
    del fields["wall_ns"]
    return json.dumps(fields, separators=(",", ":"), sort_keys=True, allow_nan=False).encode()


def decode_meta(data: bytes, wall_ns: int) -> Meta:
    """Read a meta object; anything missing, of a wrong type or out of range is a `FrameError`."""
    fields = _json_object(data)
    try:
        origin = Origin(
            server=_name(fields["server"]),
            epoch=_name(fields["epoch"]),
            sequence=_count(fields["sequence"]),
            wall_ns=wall_ns,
            monotonic_ns=_count(fields["monotonic_ns"]),
            interval_s=_duration(fields["interval_s"]),
            effective_interval_s=_duration(fields["effective_interval_s"]),
            filesystems=tuple(_name(name) for name in _list(fields["filesystems"])),
        )
        contents = tuple(_section(item) for item in _list(fields["sections"]))
        notes = fields["notes"]
    except KeyError as error:
        raise FrameError("the meta object lacks %s" % error) from None
    if not isinstance(notes, dict):
        raise _wrong(notes)
    return Meta(origin, contents, notes)


def _json_object(data: bytes) -> Dict[str, Any]:
    if len(data) > META_LIMIT:
        raise FrameError("the meta object is too large")
    try:
        fields = json.loads(data.decode("ascii"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise FrameError("the meta object is not JSON in ASCII") from None
    if not isinstance(fields, dict):
        raise _wrong(fields)
    return fields


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _section(item: Any) -> SectionInfo:
    fields = _list(item)
    if len(fields) != 3:
        raise _wrong(item)
    return SectionInfo(_name(fields[0]), _count(fields[1]), _count(fields[2]))


def _name(value: Any) -> str:
    # A line end or a NUL in a name could forge records wherever names are printed.
    if not isinstance(value, str) or not value or not _NOT_IN_NAMES.isdisjoint(value):
        raise _wrong(value)
    return value


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= _MAX_INTEGER:
        raise _wrong(value)
    return value


def _duration(value: Any) -> float:
    if type(value) not in (int, float):
        raise _wrong(value)
    try:
        seconds = float(value)
    except OverflowError:
        raise _wrong(value) from None
    if not math.isfinite(seconds) or seconds < 0:
        raise _wrong(value)
    return seconds


def _list(value: Any) -> List[Any]:
    if not isinstance(value, list):
        raise _wrong(value)
    return value


def _wrong(value: Any) -> FrameError:
    return FrameError("the meta object holds a wrong %s" % type(value).__name__)
