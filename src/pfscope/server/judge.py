"""Decides about each frame of a body before it is kept: whole, within limits, from whom it may be.

The texts inside are not inflated here: their declared size is checked, and no reader inflates more
than was declared. A plain text becomes a frame whose epoch is its digest and whose sequence is its
time in microseconds, so that a repeat has the same name.
"""

import hashlib
import io
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from pfscope.frames import Damage, Found, Frame, FrameBuilder, Origin, scan
from pfscope.server.errors import Refusal, too_large
from pfscope.server.limits import Limits
from pfscope.server.receive import RATIO_FLOOR, Share

SERVER: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_SERVER = re.compile(SERVER)
_LONGEST_NAME: Final = 4096
_EPOCH = re.compile(r"[!-~]{1,128}")

Key = tuple[str, str, int]
"""Server, epoch, sequence."""
NO_KEY: Final[Key] = ("", "", -1)
"""Of damage: what it was cannot be told."""


class Verdict(NamedTuple):
    """What becomes of a frame; `code` is one of few words, `reason` a sentence for people."""

    key: Key
    status: str
    code: str = ""
    reason: str = ""


class Candidate(NamedTuple):
    """A frame that may be kept."""

    key: Key
    encoded: bytes


def judge(
    body: bytes | bytearray, may_speak_for: Callable[[str], bool], limits: Limits
) -> list[Candidate | Verdict]:
    """Return what a body holds, in its order: frames to keep, and refusals of what cannot be."""
    items: list[Candidate | Verdict] = []
    for item in scan(io.BytesIO(body)):
        if len(items) == limits.frames:
            raise too_large("frames", f"more than {limits.frames} frames in one request", "frames")
        if isinstance(item, Damage):
            where = f"{item.length} bytes at offset {item.offset}: {item.reason}"
            items.append(Verdict(NO_KEY, "rejected", "damaged", where))
            continue
        code, reason = _fault(item.frame, may_speak_for, limits)
        if code:
            items.append(Verdict(item.frame.key, "rejected", code, reason))
        else:
            items.append(Candidate(item.frame.key, _bytes(body, item)))
    return items


def check_server(server: str, may_speak_for: Callable[[str], bool]) -> None:
    """Refuse a text for a server that has no proper name, or for which the token may not speak."""
    if not _SERVER.fullmatch(server):
        hint = "?server=NAME: at most 64 letters, digits, dots, dashes and underscores"
        raise Refusal(400, "server-name", "the server has no proper name", hint)
    if not may_speak_for(server):
        hint = "use the server's own token, or add one with `pfscope serve token add`"
        raise Refusal(403, "not-allowed", "the token may not speak for this server", hint)


def _fault(frame: Frame, may_speak_for: Callable[[str], bool], limits: Limits) -> tuple[str, str]:
    server, epoch, _sequence = frame.key
    if not _SERVER.fullmatch(server):
        return "server-name", "the server has no proper name"
    if not may_speak_for(server):
        return "not-allowed", "the token may not speak for this server"
    if not _EPOCH.fullmatch(epoch):
        return "epoch", "the epoch is not 1 to 128 printable characters"
    if not all(_is_name(name) for name in (*frame.origin.filesystems, *_sections(frame))):
        return "names", "a file system or a section has no proper name"
    if frame.raw_bytes > limits.raw_bytes:
        return "too-large", f"its texts exceed {limits.raw_bytes} bytes"
    if frame.raw_bytes > max(RATIO_FLOOR, len(frame.payload) * limits.ratio):
        return "ratio", f"its texts expand more than {limits.ratio} times"
    return "", ""


def _sections(frame: Frame) -> Iterator[str]:
    return (info.name for info in frame.contents)


def _is_name(name: str) -> bool:
    # JSON can say half a character, which no UTF-8 can: no store would take it.
    return len(name) <= _LONGEST_NAME and not any("\ud800" <= c <= "\udfff" for c in name)


def _bytes(body: bytes | bytearray, found: Found) -> bytes:
    return bytes(body[found.offset : found.offset + found.length])


class TextFrame:
    """A sink that makes a frame of `lctl get_param`'s output while it arrives."""

    def __init__(self, share: Share) -> None:
        self._share = share
        self._builder = FrameBuilder()
        self._builder.begin("lctl")
        self._digest = hashlib.sha256()
        self._held = 0

    def add(self, block: bytes) -> None:
        """Take a block of text; only its compressed form is kept."""
        self._digest.update(block)
        self._builder.add(block)
        self._share.take(self._builder.size_bytes - self._held)
        self._held = self._builder.size_bytes

    def finish(self, server: str, time_us: int) -> Candidate:
        """Return the frame; the sink is used up."""
        self._builder.end()
        origin = Origin(server, self._digest.hexdigest()[:32], time_us, time_us * 1000)
        encoded = self._builder.finish(origin)
        return Candidate((server, origin.epoch, origin.sequence), encoded)
