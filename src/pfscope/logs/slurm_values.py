"""From the texts in sacct's cells to values: times, durations, sizes, states, ids.

Columns come in as bytes and go out as Arrow arrays of the same length. What is empty or unknown is
null; what makes no sense is null, too, and counted.
"""

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pfscope.errors import UsageError
from pfscope.untrusted import ascii_text

TIME: Final = pa.timestamp("us", "UTC")
_LOCAL: Final = pa.timestamp("us")
_NOTHING: Final = frozenset(
    (b"", b"Unknown", b"None", b"N/A", b"(null)", b"None assigned", b"Partition_Limit",
     b"UNLIMITED", b"INVALID")
)  # fmt: skip
_ISO: Final = (
    r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$"
)
_EPOCH: Final = r"^[0-9]{1,12}$"
_UNPRINTABLE: Final = r"[^ -\[\]-~]"
_DURATION: Final = re.compile(
    rb"(?:(?P<days>\d{1,6})-)?(?:(?P<hours>\d{1,9}):)?(?P<minutes>\d{1,9}):(?P<seconds>\d\d)"
    rb"(?:\.(?P<fraction>\d{1,6}))?"
)
_SIZE: Final = re.compile(rb"(\d{1,15}(?:\.\d{1,6})?)([KMGTPE?]?)[nc]?")
_STATE: Final = re.compile(rb"([A-Z][A-Z_]*)\+?(?: by (.+))?", re.DOTALL)
_EXIT: Final = re.compile(rb"([0-9]{1,9}):([0-9]{1,9})")
_DIGITS: Final = re.compile(rb"[0-9]{1,18}")
_LARGEST: Final = 2**63 - 1


class Values(NamedTuple):
    """A column, and how many of its cells made no sense."""

    array: pa.Array
    unread: int = 0


Convert = Callable[[pa.Array], Values]


def distinct(raw: pa.Array, parse: Callable[[bytes], Any], kind: pa.DataType) -> Values:
    """Parse each text once, however often it occurs; ValueError means that it makes no sense."""
    encoded = raw.dictionary_encode()
    values: list[Any] = []
    wrong = []
    for text in encoded.dictionary.to_pylist():
        value, bad = None, False
        if text not in _NOTHING:
            try:
                value = parse(text)
            except ValueError:
                bad = True
        values.append(value)
        wrong.append(bad)
    unread = int(np.asarray(wrong, bool)[encoded.indices.to_numpy()].sum())
    return Values(pa.array(values, kind).take(encoded.indices), unread)


def text(raw: pa.Array) -> Values:
    """Return text as ASCII; what Slurm writes for nothing is null."""
    if pc.any(pc.match_substring_regex(raw, _UNPRINTABLE)).as_py():
        return distinct(raw, ascii_text, pa.string())
    plain = raw.cast(pa.string())
    nothing = pa.array([word.decode() for word in _NOTHING])
    return Values(pc.if_else(pc.is_in(plain, nothing), None, plain))


def free_text(raw: pa.Array) -> Values:
    """Return text that users chose, in which `None` and `Unknown` are as good as any."""
    if pc.any(pc.match_substring_regex(raw, _UNPRINTABLE)).as_py():
        escaped = pa.array([ascii_text(word) for word in raw.to_pylist()], pa.string())
    else:
        escaped = raw.cast(pa.string())
    return Values(pc.if_else(pc.equal(pc.binary_length(raw), 0), None, escaped))


def size(raw: pa.Array) -> Values:
    """Return sizes in bytes, and counts, which sacct abbreviates alike: `16?` is 16, `2K` 2048."""
    return distinct(raw, size_bytes, pa.int64())


def user_id(raw: pa.Array) -> Values:
    """Return numeric ids as text."""
    return distinct(raw, _digits, pa.string())


def duration(raw: pa.Array) -> Values:
    """Return durations in seconds, of which only CPU times have fractions."""
    return distinct(raw, duration_s, pa.float64())


def whole_seconds(raw: pa.Array) -> Values:
    """Return durations in whole seconds, written as such or as `[days-]hours:minutes:seconds`."""
    return distinct(raw, _whole_seconds, pa.int64())


def minutes(raw: pa.Array) -> Values:
    """Return seconds from whole minutes."""
    return distinct(raw, lambda word: 60 * int(_digits(word)), pa.int64())


def state(raw: pa.Array) -> Values:
    """Return the first word of a state."""
    return distinct(raw, lambda word: _matched(_STATE, word)[1].decode(), pa.string())


def canceller(raw: pa.Array) -> Values:
    """Return who it was in `CANCELLED by 380693`: a user id, or in JSON a name."""
    return Values(distinct(raw, _canceller, pa.string()).array)  # `state` counts what is no state


def exit_code(raw: pa.Array) -> Values:
    """Return what the script exited with: the number before the colon."""
    return distinct(raw, lambda word: int(_matched(_EXIT, word)[1]), pa.int32())


def exit_signal(raw: pa.Array) -> Values:
    """Return the signal that ended it, the number behind the colon; 0 where none did."""
    return Values(distinct(raw, lambda word: int(_matched(_EXIT, word)[2]), pa.int32()).array)


def times(zone: str) -> Convert:
    """Return a reader of times of that zone, or of seconds since 1970.

    An hour that clocks showed twice is the earlier one; one that they skipped is when they did.
    UsageError: there is no such zone.
    """
    try:
        _instants(pa.array([0], _LOCAL), zone)
    except pa.ArrowInvalid as error:
        raise UsageError(f"{zone!r} is no time zone; use UTC, Europe/Helsinki, …") from error
    return lambda raw: _times(raw, zone)


def size_bytes(word: bytes) -> int:
    """Read `4000Mc`, `0.31M`, `16?`: the units are powers of 1024."""
    match = _matched(_SIZE, word)
    unit = b"?KMGTPE".index(match[2]) if match[2] else 0
    value = int(float(match[1]) * 1024**unit) if b"." in match[1] else int(match[1]) * 1024**unit
    if value > _LARGEST:
        raise ValueError
    return value


def duration_s(word: bytes) -> float:
    """Read `[days-]hours:minutes:seconds[.fraction]`, the hours left out where they are none."""
    match = _matched(_DURATION, word)
    days, hours, minute, seconds = (int(match[n] or 0) for n in (1, 2, 3, 4))
    whole = ((days * 24 + hours) * 60 + minute) * 60 + seconds
    return whole + float(b"0." + match["fraction"]) if match["fraction"] else float(whole)


def _canceller(word: bytes) -> str | None:
    who = _matched(_STATE, word)[2]
    return None if who is None else ascii_text(who)


def _whole_seconds(word: bytes) -> int:
    return int(word) if _DIGITS.fullmatch(word) else int(duration_s(word))


def _digits(word: bytes) -> str:
    return _matched(_DIGITS, word)[0].decode()


def _matched(pattern: re.Pattern[bytes], word: bytes) -> re.Match[bytes]:
    match = pattern.fullmatch(word)
    if match is None:
        raise ValueError
    return match


def _times(raw: pa.Array, zone: str) -> Values:
    iso = pc.match_substring_regex(raw, _ISO)
    epoch = pc.match_substring_regex(raw, _EPOCH)
    local = _local_times(pc.if_else(iso, raw, None).cast(pa.string()))
    seconds = pc.if_else(epoch, raw, None).cast(pa.string()).cast(pa.int64())
    zero = pc.equal(seconds, 0)
    since_1970 = pc.if_else(zero, None, seconds).cast(pa.timestamp("s")).cast(TIME)
    found = pc.coalesce(_instants(local, zone), since_1970)
    expected = pc.is_in(raw, pa.array(sorted(_NOTHING), pa.binary()))
    absent = pc.or_(expected, pc.fill_null(zero, fill_value=False))
    wrong = pc.and_not(pc.is_null(found), absent)
    return Values(found, pc.sum(wrong).as_py() or 0)


def _instants(local: pa.Array, zone: str) -> pa.Array:
    if zone == "UTC":
        return local.cast(TIME)
    return pc.assume_timezone(local, zone, ambiguous="earliest", nonexistent="latest").cast(TIME)


def _local_times(iso: pa.Array) -> pa.Array:
    """Read times without a zone; strptime would take 30 February for 2 March."""
    found = pc.strptime(iso, "%Y-%m-%dT%H:%M:%S", "us", error_is_null=True)
    day = pc.utf8_slice_codeunits(iso, 8, 10).cast(pa.int64())
    return pc.if_else(pc.equal(pc.day(found), day), found, None)
