"""The files of some runs of the synthetic month, as arrays: who moved how much in them, and when.

A run's files are read and written one after the other, in turn: of two or more, the even ones are
read and the odd ones written. So the time of I/O is bytes by rate, whatever lies between files.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from pfscope.mine.synth_world import OSTS, WIDTHS, Flags, Floats, Ints, Runs

SMALL_BIN: Final = "1k_10k"
LARGE_BIN: Final = "1m_4m"


@dataclass(frozen=True)
class Files:
    """One element of each array is one file."""

    run: Ints
    """Index of the run within the given ones."""
    number: Ints
    """Which of the run's files it is."""
    ranks: Ints
    rank: Ints
    """The rank, where it is one alone; else -1."""
    read: Ints
    written: Ints
    reads: Ints
    writes: Ints
    read_start: Floats
    read_end: Floats
    write_start: Floats
    write_end: Floats
    lustre: Flags
    width: Ints
    """Index of `WIDTHS`."""
    ost: Ints
    """The first OST."""


def files_of(runs: Runs, chosen: slice, rng: np.random.Generator) -> Files:
    """Return the files of some runs."""
    counts = runs.files[chosen]
    run = np.repeat(np.arange(len(counts)), counts)
    ends = np.cumsum(counts)
    number = np.arange(len(run)) - np.repeat(ends - counts, counts)
    many = counts[run]
    even = number % 2 == 0
    read, reading = _dealt(runs.read[chosen][run], even, number == 0, (many + 1) // 2)
    first_written = np.where(many == 1, number == 0, number == 1)
    written, writing = _dealt(
        runs.written[chosen][run], ~even | (many == 1), first_written, np.maximum(many // 2, 1)
    )
    seconds = (read + written) / runs.rate[chosen][run]
    begins = _begins(seconds, runs.idle_s[chosen][run], run, ends - counts)
    halfway = begins + read / runs.rate[chosen][run]
    whole = 100 * runs.operations[chosen][run]
    stripe = runs.stripe[chosen][run]
    odd_width = (stripe == STRIPED_WIDE) & (number == 0)
    widths = np.searchsorted(WIDTHS, runs.width[chosen])[run]
    ranks, rank = _sharing(runs, chosen, run, number)
    return Files(
        run=run, number=number, ranks=ranks, rank=rank,
        read=read, written=written, reads=whole * reading, writes=whole * writing,
        read_start=begins, read_end=halfway, write_start=halfway, write_end=begins + seconds,
        lustre=stripe >= 0, width=np.where(odd_width, widths, 0),
        ost=rng.integers(0, OSTS, len(run)),
    )  # fmt: skip


STRIPED_WIDE: Final = 2
"""Index of `width` in `STRIPES`."""


def _dealt(whole: Ints, takes: Flags, first: Flags, among: Ints) -> tuple[Ints, Flags]:
    """Deal a run's bytes to the files that take part; the first gets what is left over."""
    each = whole // among
    dealt = np.where(takes, each, 0) + np.where(first, whole - each * among, 0)
    return dealt, takes & (dealt > 0)


def _begins(seconds: Floats, idle: Floats, run: Ints, firsts: Ints) -> Floats:
    """Return when each file begins: a second after the run, and after those before it."""
    before = np.cumsum(seconds + idle) - (seconds + idle)
    begins: Floats = 1 + before - before[firsts][run]
    return begins


def _sharing(runs: Runs, chosen: slice, run: Ints, number: Ints) -> tuple[Ints, Ints]:
    """Return how many ranks use each file, and the rank where it is one."""
    processes, pattern = runs.processes[chosen][run], runs.pattern[chosen][run]
    some = np.maximum(1, processes // 2)
    ranks = np.select([pattern == 1, pattern == 3], [processes, np.where(number == 0, some, 1)], 1)
    return ranks, np.where(ranks == 1, number % processes, -1)
