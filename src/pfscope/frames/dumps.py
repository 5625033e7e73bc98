"""Imports dump trees, `DIR/SERVER/YYYYmmddTHHMMSSZ.txt` of raw `lctl get_param` output, as logs.

A dump becomes one frame with one section named `lctl`. Its name is made of the server and the time
alone, so that importing twice adds nothing, here or at whoever receives the frames.
"""

import calendar
import gzip
import os
import re
import time
import zlib
from typing import BinaryIO, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional

from pfscope.frames.builder import FrameBuilder
from pfscope.frames.errors import FrameError
from pfscope.frames.files import iter_frames
from pfscope.frames.log import FrameLog
from pfscope.frames.meta import Origin

DUMP_EPOCH = "dump"
Opener = Callable[[str], BinaryIO]
_NAME = re.compile(r"(\d{8}T\d{6}Z)(\.txt(?:\.[a-z0-9]+)?)$")
_CHUNK = 1 << 20


class Dump(NamedTuple):
    """One file of a dump tree."""

    server: str
    time_s: int
    suffix: str
    path: str


class Outcome(NamedTuple):
    """What became of one dump: `reason` is empty when its frame is in the log."""

    dump: Dump
    reason: str


def _open_plain(path: str) -> BinaryIO:
    return open(path, "rb")


def _open_gzip(path: str) -> BinaryIO:
    return gzip.open(path, "rb")  # type: ignore[return-value]


OPENERS: Dict[str, Opener] = {".txt": _open_plain, ".txt.gz": _open_gzip}


def find_dumps(directory: str) -> List[Dump]:
    """Return the dumps of a tree, server by server, in the order of time."""
    found = []
    for server in os.listdir(directory):
        folder = os.path.join(directory, server)
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            match = _NAME.match(name)
            moment = _seconds(match.group(1)) if match else None
            if match and moment is not None:
                found.append(Dump(server, moment, match.group(2), os.path.join(folder, name)))
    return sorted(found)


def import_dumps(
    dumps: List[Dump], out: str, openers: Mapping[str, Opener] = OPENERS
) -> Iterator[Outcome]:
    """Append what is not there yet to the logs `out/SERVER`; yield what became of each dump."""
    for server in sorted({dump.server for dump in dumps}):
        folder = os.path.join(out, server)
        with FrameLog(folder) as log:
            present = {frame.key for frame in iter_frames(folder)}
            for dump in (d for d in dumps if d.server == server):
                key = (server, DUMP_EPOCH, dump.time_s)
                reason = "" if key in present else _append(log, dump, openers)
                present.add(key)
                yield Outcome(dump, reason)
            log.sync()


def _append(log: FrameLog, dump: Dump, openers: Mapping[str, Opener]) -> str:
    opener = openers.get(dump.suffix)
    if opener is None:
        return "no way to read %s" % dump.suffix
    try:
        log.append(_frame(dump, opener))
    except (OSError, EOFError, zlib.error, FrameError) as error:
        return str(error)
    return ""


def _frame(dump: Dump, opener: Opener) -> bytes:
    builder = FrameBuilder()
    builder.begin("lctl")
    with opener(dump.path) as file:
        for chunk in iter(lambda: file.read(_CHUNK), b""):
            builder.add(chunk)
    builder.end()
    origin = Origin(dump.server, DUMP_EPOCH, dump.time_s, dump.time_s * 10**9)
    return builder.finish(origin)


def _seconds(text: str) -> Optional[int]:
    try:
        return calendar.timegm(time.strptime(text, "%Y%m%dT%H%M%SZ"))
    except ValueError:
        return None
