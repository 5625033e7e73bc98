"""What distinguishes the job_stats of each Lustre release, as data; `text` prints by it.

The laboratory is the only room that knows releases by name: the parser tells them apart by their
text alone.
"""

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["mdt", "ost"]
KINDS: tuple[Kind, ...] = ("mdt", "ost")

BYTES_OPERATIONS = ("read_bytes", "write_bytes")

_OST = (
    "getattr", "setattr", "punch", "sync", "destroy", "create",
    "statfs", "get_info", "set_info", "quotactl",
)  # fmt: skip
_MDT = (
    "open", "close", "mknod", "link", "unlink", "mkdir", "rmdir", "rename", "getattr", "setattr",
    "getxattr", "setxattr", "statfs", "sync", "samedir_rename",
)  # fmt: skip
_PARALLEL = ("parallel_rename_file", "parallel_rename_dir")


@dataclass(frozen=True, slots=True)
class Dialect:
    """One release's way to print job_stats."""

    name: str
    mdt_operations: tuple[str, ...]
    ost_operations: tuple[str, ...]
    quoting: Literal["raw", "question", "hex", "hex-lenient"]
    times: Literal["seconds", "boot", "nanoseconds"]
    service_times: bool = False
    """Every operation is measured in microseconds, with min, max, sum and sumsq."""
    blank_after_colon: bool = False
    """`min: %8llu` instead of `min:%8llu`."""
    histograms: bool = False
    idle_header: bool = True
    """An idle target still prints `job_stats:`."""
    unpadded_clock: bool = False
    """`stats` tells microseconds without leading zeros: `.20113` is 0.020113 s."""
    lctl: Literal["short-lines", "lines", "lines-and-empty"] = "short-lines"
    """What `lctl get_param` puts behind `name=`: values of one line if the line stays below 80
    characters, or always; and whether it prints the names of empty files."""

    @property
    def start_times(self) -> bool:
        """Counters tell since when they count."""
        return self.times != "seconds"

    def since(self, release: str) -> bool:
        """Tell whether this dialect is that of `release` or of a later one."""
        return _numbers(self.name) >= _numbers(release)

    def operations(self, kind: Kind) -> tuple[str, ...]:
        """Return the operations of an MDT or an OST, in the order of printing."""
        return self.mdt_operations if kind == "mdt" else self.ost_operations


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


_OST_OLD = (*BYTES_OPERATIONS, *_OST)
_OST_NEW = (*BYTES_OPERATIONS, "read", "write", *_OST, "prealloc")
_MDT_2_7 = (*_MDT, "crossdir_rename")
_MDT_2_12 = (*_MDT_2_7, *BYTES_OPERATIONS, "punch")
_MDT_IO = ("read", "write", *BYTES_OPERATIONS, "punch", "migrate", "fallocate")
_MDT_2_15 = (*_MDT_2_7, *_MDT_IO)
_MDT_2_16 = (*_MDT, *_PARALLEL, "crossdir_rename", *_MDT_IO)
_MDT_2_17 = (*_MDT, *_PARALLEL, "crossdir_rename", "rename_trylocks", *_MDT_IO)

# fmt: off
DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect("2.7", _MDT_2_7, _OST_OLD, "raw", "seconds", unpadded_clock=True),
        Dialect("2.10", _MDT_2_7, _OST_OLD, "question", "seconds"),
        Dialect("2.12", _MDT_2_12, _OST_OLD, "question", "seconds"),
        Dialect("2.14", (*_MDT_2_12, "migrate"), _OST_NEW, "question", "seconds", True),
        Dialect("2.15.0", _MDT_2_15, _OST_NEW, "question", "boot", True, True),
        Dialect("2.15", _MDT_2_15, _OST_NEW, "hex", "nanoseconds", True, True),
        Dialect(
            "2.16", _MDT_2_16, _OST_NEW, "hex-lenient", "nanoseconds", True, True, True,
            lctl="lines",
        ),
        Dialect(
            "2.17", _MDT_2_17, _OST_NEW, "hex-lenient", "nanoseconds", True, True, True,
            idle_header=False, lctl="lines-and-empty",
        ),
    )
}
# fmt: on


def dialect_of(release: str) -> Dialect | None:
    """Return the dialect of any release, such as 2.15.6 or 2.5; None for what is no release.

    >>> dialect_of("2.15.1").name, dialect_of("2.15.6").name, dialect_of("2.9").name
    ('2.15.0', '2.15', '2.10')
    """
    if release in DIALECTS:
        return DIALECTS[release]
    if not re.fullmatch(r"2(\.\d{1,3}){1,2}", release) or _numbers(release) < (2, 5):
        return None
    numbers = _numbers(release)
    if numbers[:2] == (2, 15):
        return DIALECTS["2.15.0" if numbers[2] < 2 else "2.15"]
    if (2, 7, 61) <= numbers < (2, 10):
        return DIALECTS["2.10"]
    return [d for d in DIALECTS.values() if d.name == "2.7" or _numbers(d.name) <= numbers][-1]
