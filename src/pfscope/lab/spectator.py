"""What the frames of running agents say, frame by frame: who is there, and who is busy.

Requests are counted since the frame before, and divided by the seconds that passed on the server's
own clock, which in the laboratory may run faster than ours.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pfscope.frames import Damage, Frame, frame_files, scan
from pfscope.lustre.host import parse_uptime
from pfscope.lustre.identity import Identifier
from pfscope.lustre.job_stats import JobStats, parse_job_stats
from pfscope.lustre.names import target_of_parameter
from pfscope.model import Untrusted

_COUNTED_ELSEWHERE = frozenset(
    (
        "read", "write",  # as read_bytes and write_bytes
        "samedir_rename", "crossdir_rename", "parallel_rename_file", "parallel_rename_dir",
        "rename_trylocks",  # as rename
    )
)  # fmt: skip
Requests = Counter[Untrusted]


@dataclass(frozen=True, slots=True)
class Seen:
    """One frame, understood."""

    server: str
    sequence: int
    wall_ns: int
    raw_bytes: int
    entries: int
    classes: Counter[str]
    defects: int
    seconds: float
    """On the server's clock since the frame before; zero where there is none to compare with."""
    requests: float
    """By all entries in these seconds, and so by user and by job, as far as ids name them."""
    users: Requests
    jobs: Requests


@dataclass(slots=True)
class _Before:
    uptime_s: float
    requests: dict[tuple[str, bytes], tuple[int, int]] = field(default_factory=dict)
    """Of each entry: when it began to count, and how many since."""


class Spectator:
    """Watches frames in the order of their collection, any number of servers at once."""

    def __init__(self) -> None:
        self._identifier = Identifier()
        self._before: dict[str, _Before] = {}

    def see(self, frame: Frame) -> Seen:
        """Compare a frame with the one before it from the same server."""
        uptime_s, tables = _texts(frame)
        server = frame.origin.server
        before = self._before.get(server)
        now = _Before(uptime_s)
        seconds = uptime_s - before.uptime_s if before else 0.0
        classes, users, jobs = Counter[str](), Requests(), Requests()
        requests = 0
        for table in tables:
            for key, start_ns, count in _entries(table):
                now.requests[key] = start_ns, count
                identity = self._identifier.identify(key[1])
                classes[identity.id_class.value] += 1
                if before is None or seconds <= 0:
                    continue
                since = _increment(before.requests.get(key), start_ns, count)
                requests += since
                if identity.user:
                    users[identity.user] += since
                if identity.job:
                    jobs[identity.job] += since
        self._before[server] = now
        defects = sum(len(table.defects) for table in tables)
        return Seen(
            server, frame.origin.sequence, frame.origin.wall_ns, frame.raw_bytes,
            classes.total(), classes, defects, max(seconds, 0.0), requests, +users, +jobs,
        )  # fmt: skip


def _texts(frame: Frame) -> tuple[float, list[JobStats]]:
    uptime_s, tables = 0.0, []
    for section in frame.sections():
        if section.name == "/proc/uptime":
            uptime_s = (parse_uptime(section.text) or (0.0, 0.0))[0]
        elif section.name == "lctl":
            tables.append(parse_job_stats(section.text))
        elif section.name.endswith(".job_stats"):
            target = target_of_parameter(section.name)
            tables.append(parse_job_stats(section.text, target=target))
    return uptime_s, tables


def _entries(table: JobStats) -> Iterator[tuple[tuple[str, bytes], int, int]]:
    """Yield each entry, when it began to count, and its requests since then."""
    counts = np.array([name not in _COUNTED_ELSEWHERE for name in table.operations], bool)
    rows = counts[table.operation] if len(counts) else np.zeros(0, bool)
    requests = np.zeros(table.entries, np.uint64)
    np.add.at(requests, table.entry[rows], table.samples[rows])
    for target, entry_id, start_ns, count in zip(
        table.target.tolist(), table.entry_id.tolist(), table.start_ns.tolist(), requests.tolist(),
        strict=True,
    ):  # fmt: skip
        yield (table.targets[target], table.ids[entry_id]), start_ns, count


def _increment(before: tuple[int, int] | None, start_ns: int, count: int) -> int:
    if before is None or before[0] != start_ns or count < before[1]:
        return count  # a new entry, or one that was removed and began again
    return count - before[1]


class SpoolReader:
    """Reads a spool that an agent is writing, each frame once."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._read: dict[str, int] = {}

    def new_frames(self) -> Iterator[Frame]:
        """Yield what was appended since the last call; a frame that is not whole yet can wait."""
        if not self._directory.is_dir():
            return
        for name in frame_files(str(self._directory)):
            with Path(name).open("rb") as file:
                for item in scan(file, self._read.get(name, 0)):
                    if isinstance(item, Damage):
                        break
                    self._read[name] = item.offset + item.length
                    yield item.frame
