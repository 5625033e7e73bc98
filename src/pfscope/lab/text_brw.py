"""`osd-*.<target>.brw_stats`: blocks of `read | write` histograms, seven or eight of them.

The laboratory knows the sizes of requests; the blocks about the disk's layout stay empty, as on a
server that has just started.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from pfscope.lab.dialects import Dialect
from pfscope.lab.tables import Counters
from pfscope.lab.text_digits import NS
from pfscope.lab.text_stats import Clock, seconds_text

BUCKETS = 32
_PAGE_BITS = 12
_BLOCKS = (
    ("pages per bulk r/w", "rpcs"),
    ("discontiguous pages", "rpcs"),
    ("discontiguous blocks", "rpcs"),
    ("disk fragmented I/Os", "ios"),
    ("disk I/Os in flight", "ios"),
    ("I/O time (1/1000s)", "ios"),
    ("disk I/O size", "ios"),
)
_LATER_BLOCKS = (("block maps msec", "maps"),)


def brw_stats_text(dialect: Dialect, clock: Clock, io_sizes: Counters) -> bytes:
    """Return brw_stats from [read and write, size bins]."""
    sizes = _folded(io_sizes)
    known = {"pages per bulk r/w": _folded(_shifted(io_sizes)), "disk I/O size": sizes}
    blocks = _BLOCKS + (_LATER_BLOCKS if dialect.times == "nanoseconds" else ())
    lines = list(_clock_lines(dialect, clock))
    for name, unit in blocks:
        lines.append(f"\n{'':>26} read      |     write")
        lines.append(f"{name:<22} {unit:<5} % cum % |  {unit:<11} % cum %")
        lines.extend(_rows(*known[name]) if name in known else ())
    return "".join(f"{line}\n" for line in lines).encode()


def _clock_lines(dialect: Dialect, clock: Clock) -> Iterator[str]:
    if dialect.times == "nanoseconds":
        yield f"{'snapshot_time:':<25} {seconds_text(clock.now_ns)} secs.nsecs"
        yield f"{'start_time:':<25} {seconds_text(clock.start_ns)} secs.nsecs"
        yield f"{'elapsed_time:':<25} {seconds_text(clock.now_ns - clock.start_ns)} secs.nsecs"
    elif dialect.unpadded_clock:
        seconds, nanoseconds = divmod(clock.now_ns, NS)
        yield f"snapshot_time:         {seconds}.{nanoseconds // 1000} (secs.usecs)"
    else:
        yield f"snapshot_time:         {seconds_text(clock.now_ns)} (secs.nsecs)"


def _shifted(io_sizes: Counters) -> Counters:
    """Return the counts by pages instead of bytes."""
    pages = io_sizes[:, _PAGE_BITS:].copy()
    pages[:, 0] += io_sizes[:, :_PAGE_BITS].sum(axis=1)
    return pages


def _folded(bins: Counters) -> list[list[int]]:
    last = bins[:, BUCKETS - 1 :].sum(axis=1, keepdims=True)
    counts: list[list[int]] = np.concatenate([bins[:, : BUCKETS - 1], last], axis=1).tolist()
    return counts


def _rows(reads: Sequence[int], writes: Sequence[int]) -> Iterator[str]:
    """Print the buckets from the first that is not empty to the last."""
    read_total, write_total = sum(reads), sum(writes)
    read_sum = write_sum = 0
    for bucket, (r, w) in enumerate(zip(reads, writes, strict=True)):
        if read_sum == read_total and write_sum == write_total:
            return
        read_sum, write_sum = read_sum + r, write_sum + w
        if read_sum or write_sum:
            left = f"{r:10d} {_percent(r, read_total):3d} {_percent(read_sum, read_total):3d}"
            right = f"{w:4d} {_percent(w, write_total):3d} {_percent(write_sum, write_total):3d}"
            yield f"{_label(bucket)}:\t\t{left}   | {right}"


def _label(bucket: int) -> str:
    if bucket < 20:
        return f"{1 << bucket % 10}{'K' if bucket >= 10 else ''}"
    return f"{1 << (bucket - 20)}M"


def _percent(part: int, total: int) -> int:
    return part * 100 // total if total else 0
