"""Rows of LMT, whatever they were read from: a target in a step of time, and what it did in it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pfscope.untrusted import ascii_text

TIME: Final = pa.timestamp("us", "UTC")
ROWS: Final = pa.schema(
    [
        ("time", TIME),
        ("step_s", pa.float64()),
        ("filesystem", pa.string()),
        ("target", pa.string()),
        ("ost", pa.int32()),
        ("server", pa.string()),
        ("bytes_read", pa.int64()),
        ("bytes_written", pa.int64()),
        ("metadata_operations", pa.int64()),
        ("cpu_share", pa.float64()),
        ("kbytes_used", pa.int64()),
        ("kbytes_free", pa.int64()),
        ("inodes_used", pa.int64()),
        ("inodes_free", pa.int64()),
    ]
)
"""`time` is the end of the step; gauges are those at that time."""
METADATA: Final = (
    "open", "close", "mknod", "link", "unlink", "mkdir", "rmdir", "rename", "getxattr", "setxattr",
    "statfs", "setattr", "getattr",
)  # fmt: skip
"""The operations that `metadata_operations` counts: those that all forms of LMT's data have."""
_NAME: Final = re.compile(r"(?P<fs>[!-~]+)-(?P<kind>OST|MDT)(?P<index>[0-9a-fA-F]{4,8})(?:_UUID)?")
_MOST: Final = 2.0**62
"""More bytes in a step make no sense."""


class Target(NamedTuple):
    """A target, as its name says."""

    filesystem: str
    name: str
    ost: int | None
    """The index of an OST; None of an MDT."""
    server: str | None = None


def target_of(name: str | bytes, server: str | None = None) -> Target | None:
    """Read the name of a target; None: it is no such name.

    >>> target_of(b"scratch-OST000f")
    Target(filesystem='scratch', name='scratch-OST000f', ost=15, server=None)
    """
    raw = name if isinstance(name, bytes) else name.encode("utf-8", "surrogateescape")
    match = _NAME.fullmatch(ascii_text(raw.rstrip(b"\0 ")))
    if match is None:
        return None
    whole = f"{match['fs']}-{match['kind']}{match['index']}"
    ost = int(match["index"], 16) if match["kind"] == "OST" else None
    if ost is not None and ost >= 1 << 16:
        return None
    return Target(match["fs"], whole, ost, server)


def table_of(
    targets: Sequence[Target],
    which: NDArray[np.int64],
    time_us: NDArray[np.int64],
    step_s: NDArray[np.float64],
    values: Mapping[str, pa.Array],
) -> pa.Table:
    """Return rows: of target `which[i]` in the step that ends at `time_us[i]`."""
    at = pa.array(which)
    columns: dict[str, Any] = {
        "time": pa.array(time_us).cast(TIME),
        "step_s": pa.array(step_s),
        "filesystem": pa.array([t.filesystem for t in targets], pa.string()).take(at),
        "target": pa.array([t.name for t in targets], pa.string()).take(at),
        "ost": pa.array([t.ost for t in targets], pa.int32()).take(at),
        "server": pa.array([t.server for t in targets], pa.string()).take(at),
        **values,
    }
    arrays = [
        columns[field.name].cast(field.type)
        if field.name in columns
        else pa.nulls(len(which), field.type)
        for field in ROWS
    ]
    return pa.table(arrays, schema=ROWS)


def whole_numbers(values: NDArray[np.float64]) -> pa.Array:
    """Return numbers without their fractions; what is no sensible one is null."""
    known = np.isfinite(values) & (np.abs(values) < _MOST)
    return pa.array(
        np.where(known, np.rint(np.where(known, values, 0)), 0).astype(np.int64), mask=~known
    )


def increments(counters: pa.Array, fresh: NDArray[np.bool_]) -> pa.Array:
    """Return how much counters grew; null at the first of each series, where `fresh` is true.

    A counter that falls began anew from zero, after a failover: what it shows is what it grew by.
    """
    known = np.asarray(counters.is_valid())
    now = counters.fill_null(0).to_numpy()
    before = np.roll(now, 1)
    both = known & np.roll(known, 1) & ~fresh
    return pa.array(np.where(now >= before, now - before, now), mask=~both)
