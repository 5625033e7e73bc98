"""The time lines at the top of `stats` and `brw_stats`, in every form that releases gave them.

`secs.nsecs` has nine digits behind the point; `secs.usecs` (2.9 and older) is not padded, so that
`.20113` is 20113 microseconds.
"""

import re
from typing import Final

UNKNOWN_TIME: Final = -1

_CLOCK: Final = re.compile(
    rb"(?P<what>snapshot_time|start_time|elapsed_time)\s*:?\s+"
    rb"(?P<seconds>\d{1,10})\.(?P<fraction>\d{1,9})\s+\(?secs\.(?P<unit>[un])secs\)?"
)
_EARLIEST_WALL_NS: Final = 500_000_000 * 10**9
"""No server has been up for sixteen years, and none has run Lustre before 1985."""


def read_clock(line: bytes) -> tuple[str, int] | None:
    """Return which time a line tells and the nanoseconds; None if it tells no time."""
    match = _CLOCK.fullmatch(line.strip())
    if match is None:
        return None
    fraction = int(match["fraction"]) * (1000 if match["unit"] == b"u" else 1)
    return match["what"].decode(), int(match["seconds"]) * 10**9 + fraction


def is_since_boot(snapshot_ns: int) -> bool:
    """Tell whether a snapshot time counts from the server's boot, as in 2.15.0 and 2.15.1."""
    return 0 <= snapshot_ns < _EARLIEST_WALL_NS
