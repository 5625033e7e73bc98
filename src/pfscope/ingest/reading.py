"""One frame read: its job_stats as columns, its targets' totals, and the state of its server."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pfscope.frames import Origin, Section
from pfscope.lustre.defects import Defects
from pfscope.lustre.dictionary import Dictionary
from pfscope.lustre.host import LoadAverage, parse_loadavg, parse_meminfo, parse_stat
from pfscope.lustre.job_stats import UNKNOWN_TIME, JobStats, JobStatsReader
from pfscope.lustre.names import owner_of, target_of_parameter
from pfscope.lustre.params import iter_parameters, parse_integer
from pfscope.lustre.stats import Stats, parse_stats

TOTALS = ("stats", "md_stats")
"""The files in which a target counts all requests, unattributed ones included."""

CLEANUP_LIMIT_S = 10 * 366 * 86400
_IDS_KEPT = 4096
_PAST = 4
"""A dictionary of ids holds at most so many times what is shown, and a few more."""


class Readable(Protocol):
    """What the ingest asks of a frame; `pfscope.frames.Frame` is one."""

    @property
    def origin(self) -> Origin:
        """Where and when it was made."""

    @property
    def key(self) -> tuple[str, str, int]:
        """Its name: server, epoch, sequence."""

    @property
    def raw_bytes(self) -> int:
        """The size of its texts."""

    def sections(self) -> Iterator[Section]:
        """Yield its texts; a `FrameError` if they are not what it says."""


class TextFrame(NamedTuple):
    """A frame of texts that are at hand, with no need to pack them."""

    origin: Origin
    texts: tuple[Section, ...]

    @property
    def key(self) -> tuple[str, str, int]:
        """The name of the frame."""
        return self.origin.server, self.origin.epoch, self.origin.sequence

    @property
    def raw_bytes(self) -> int:
        """The size of its texts."""
        return sum(len(section.text) for section in self.texts)

    def sections(self) -> Iterator[Section]:
        """Yield its texts."""
        yield from self.texts


@dataclass(slots=True)
class Reading:
    """What a frame says."""

    origin: Origin
    raw_bytes: int
    read_us: int
    stats: JobStats
    targets: list[str]
    """Every target whose job_stats was read, idle ones included."""
    totals: list[tuple[str, Stats]] = field(default_factory=list)
    cleanup_s: dict[str, int] = field(default_factory=dict)
    load: LoadAverage | None = None
    cpu_ticks: NDArray[np.uint64] | None = None
    memory: dict[str, int] | None = None
    defects: Defects = field(default_factory=Defects)

    @property
    def server_ns(self) -> int | None:
        """What the server's own clock showed, where a text tells it."""
        told = (stats.snapshot_ns for _, stats in self.totals)
        return max((ns for ns in told if ns != UNKNOWN_TIME), default=None)


class FrameReader:
    """Reads frames of many servers; an id keeps its number from frame to frame of a server.

    So whoever looks an id up needs to do it once. Dictionaries that are mostly of the past end.
    """

    def __init__(self) -> None:
        self._ids: dict[str, Dictionary[bytes]] = {}

    def __call__(self, frame: Readable) -> Reading:
        """Read a frame; a payload that lies is a `FrameError`."""
        server = frame.origin.server
        ids = self._ids.pop(server, None) or Dictionary()
        reading = read_frame(frame, ids)
        if len(ids.values) < _IDS_KEPT + _PAST * reading.stats.entries:
            self._ids[server] = ids
        return reading


def read_frame(frame: Readable, ids: Dictionary[bytes] | None = None) -> Reading:
    """Read every section of a frame; a payload that lies is a `FrameError`."""
    reader, rest = JobStatsReader(ids), []
    targets: dict[str, None] = {}
    read_us = 0
    for section in frame.sections():
        read_us += section.duration_us
        if section.name == "lctl":
            reader.feed(section.text)
            rest += [
                (p.name, p.value if not p.name.endswith(".job_stats") else b"")
                for p in iter_parameters(section.text)
            ]
        elif section.name.endswith(".job_stats"):
            reader.feed(section.text, target=target_of_parameter(section.name))
            rest.append((section.name, b""))
        else:
            rest.append((section.name, section.text))
    reading = Reading(frame.origin, frame.raw_bytes, read_us, reader.finish(), [])
    reading.defects.extend(reading.stats.defects)
    for name, value in rest:
        if name.endswith(".job_stats"):
            targets[target_of_parameter(name)] = None
        else:
            _read_other(reading, name, value)
    reading.targets = list(targets)
    return reading


def _read_other(reading: Reading, name: str, value: bytes) -> None:
    if name == "/proc/loadavg":
        reading.load = parse_loadavg(value)
    elif name == "/proc/stat" and (times := parse_stat(value)):
        reading.cpu_ticks = times.ticks
    elif name == "/proc/meminfo":
        reading.memory = parse_meminfo(value)
    elif name.endswith(".job_cleanup_interval"):
        seconds = parse_integer(value)
        if seconds is not None and 0 <= seconds <= CLEANUP_LIMIT_S:
            reading.cleanup_s[target_of_parameter(name)] = seconds
    elif name.rpartition(".")[2] in TOTALS:
        owner = owner_of(name)
        if owner.target and owner.nid is None and name.startswith(("mdt.", "obdfilter.")):
            reading.totals.append((owner.target, parse_stats(value)))
