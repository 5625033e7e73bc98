"""The time lines of entries: when each was last updated and when it began to count.

Up to 2.14 whole seconds; in 2.15.0 and 2.15.1 not indented, with a blank before the colon, counted
since boot; from 2.15.2 on indented again, with nanoseconds.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pfscope.lustre import lines
from pfscope.lustre.columns import UNKNOWN_TIME
from pfscope.lustre.index import Index
from pfscope.lustre.words import Offsets, Text

_SECS: Final = b" secs.nsecs"
_SPELLINGS: Final = (
    # name, first and second eight bytes, where the number's field begins
    ("snapshot_time", b"  snapsh", b"ot_time:", 16),
    ("start_time", b"  start_", b"time:   ", 16),
    ("elapsed_time", b"  elapse", b"d_time: ", 16),
    ("snapshot_time", b"snapshot", b"_time   ", 16),
    ("start_time", b"start_ti", b"me      ", 16),
    ("elapsed_time", b"elapsed_", b"time    ", 16),
)


class Times:
    """The times of all entries of a piece; claims the lines that it reads."""

    def __init__(self, text: Text, index: Index) -> None:
        count = len(index.entries)
        self.snapshot_ns = np.full(count, UNKNOWN_TIME, np.int64)
        self.start_ns = np.full(count, UNKNOWN_TIME, np.int64)
        self.since_boot = np.zeros(count, np.bool_)
        self.fractional = np.zeros(count, np.bool_)
        """The snapshot time has nanoseconds, as in all releases that quote ids."""
        self._columns = {"snapshot_time": self.snapshot_ns, "start_time": self.start_ns}
        for what, first, second, number_at in _SPELLINGS:
            found = np.flatnonzero((index.owner >= 0) & text.holds(index.starts, first))
            found = found[text.holds(index.starts[found] + 8, second)]
            if len(found):
                self._claim(text, index, found, what, number_at)

    def _claim(self, text: Text, index: Index, found: Offsets, what: str, number_at: int) -> None:
        starts, ends = index.starts[found] + number_at, index.ends[found]
        fractional = text.holds(ends - len(_SECS), _SECS[:8])
        value, digits = text.decimals_before(ends - len(_SECS))
        odd = fractional & ((digits != 9) | (text.octets[ends - len(_SECS) - 10] != 46))
        fraction = np.where(fractional, value, np.uint64(0)).astype(np.int64)
        seconds_end = np.where(fractional, ends - len(_SECS) - 10, ends)
        seconds, digits = text.decimals_before(seconds_end)
        good = ~odd & (digits > 0) & (seconds < np.uint64(2**63 // 10**9))
        good &= (seconds_end - digits > starts) & (text.octets[seconds_end - digits - 1] == 32)
        found = found[good]
        index.claimed[found] = True
        nanoseconds = seconds[good].astype(np.int64) * 10**9 + fraction[good]
        unindented = text.octets[index.starts[found]] != 32
        self._put(index.owner[found], what, nanoseconds, fractional[good], unindented)

    def _put(
        self,
        owners: Offsets,
        what: str,
        nanoseconds: NDArray[np.int64],
        fractional: NDArray[np.bool_],
        unindented: NDArray[np.bool_],
    ) -> None:
        if what in self._columns:
            self._columns[what][owners] = nanoseconds
        if what == "snapshot_time":
            self.fractional[owners] = fractional
            self.since_boot[owners] = fractional & unindented

    def add(self, entry: int, time: lines.Time) -> None:
        """Add a time that was read the slow way."""
        self._put(
            np.array([entry]), time.what, np.array([time.nanoseconds]),
            np.array([time.fractional]), np.array([not time.indented]),
        )  # fmt: skip
