"""A month of runs that never were, as arrays: what each run is, from which its files follow.

Every quantity that the statistics ask for is drawn here, as a code or a whole percentage, before
there is a counter: what is known of the month is counted from these codes and not from the lake.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

START: Final = datetime(2018, 1, 1, tzinfo=UTC)
DAYS: Final = 31
OSTS: Final = 248
FIRST_JOB: Final = 10_000_000
UNIT: Final = 2**16
"""Bytes of a run's reads and writes are so many times a whole percentage."""
APPLICATIONS: Final = tuple(
    f"{field}{number}"
    for number in range(1, 7)
    for field in ("climate", "physics", "meteorology", "quantum", "chemistry", "fusion")
)
WIDTHS: Final = (1, 4, 8, 24, OSTS)
"""Stripe counts that occur."""
STRIPES: Final = ("default", "size", "width", "offset")
"""In which of the settings a run's first file differs from the default."""
LAYERS: Final = ("POSIX", "independent", "collective")
PATTERNS: Final = ("one process", "N-1", "N-N", "N-M")
_PROCESSES: Final = (
    (0.30, (1,)), (0.62, (2, 16, 32, 64, 128, 256, 512, 1024)),
    (0.06, (1536, 2048, 4096, 8192)), (0.02, (9216, 16384)),
)  # fmt: skip
_LAYER_SHARES: Final = ((0.988, 0.002), (0.996, 0.001), (0.778, 0.05), (0.541, 0.03))
_MEAN_FILES: Final = 22.2
_N_N_AT_MOST: Final = 64


@dataclass(frozen=True)
class Runs:
    """The runs of the month, in order of their start."""

    days: int
    start_us: Ints
    application: Ints
    processes: Ints
    size: Ints
    """0 to 3: one process, up to 1 024, up to 8 192, more."""
    files: Ints
    pattern: Ints
    read_percent: Ints
    volume: Ints
    """A hundredth of the bytes read and written."""
    operations: Ints
    """A hundredth of the reads, or of the writes, of a file."""
    consecutive_percent: Ints
    small_percent: Ints
    stripe: Ints
    """Of `STRIPES`; -1: none of the run's files is on Lustre."""
    width: Ints
    """Stripe count of the first file where `stripe` says so."""
    layer: Ints
    offset_told: Flags
    """Whether the log tells the stripe offset."""
    rate: Floats
    """Bytes per second of the reads, and of the writes."""
    idle_s: Floats
    """How long nothing happens between two files."""

    @property
    def read(self) -> Ints:
        """Bytes read."""
        return self.volume * self.read_percent

    @property
    def written(self) -> Ints:
        """Bytes written."""
        return self.volume * (100 - self.read_percent)

    def __len__(self) -> int:
        return len(self.files)


def runs(count: int, seed: int, days: int = DAYS) -> Runs:
    """Draw the runs of so many days."""
    rng = np.random.default_rng(seed)
    start_us = np.sort(rng.integers(0, days * 86400 * 10**6, count))
    weights = 1 / np.arange(1, len(APPLICATIONS) + 1) ** 1.2
    size = rng.choice(len(_PROCESSES), count, p=[share for share, _ in _PROCESSES])
    processes = np.zeros(count, np.int64)
    for i, (_, choices) in enumerate(_PROCESSES):
        processes[size == i] = rng.choice(choices, int((size == i).sum()))
    files, pattern = _files(rng, processes)
    stripe = rng.choice(5, count, p=[0.92, 0.002, 0.006, 0.002, 0.07])
    stripe[stripe == 4] = -1
    percent = rng.choice([0, 1, 2, 3], count, p=[0.07, 0.23, 0.40, 0.30])
    low = rng.random(count) < 0.5
    return Runs(
        days=days, start_us=start_us,
        application=rng.choice(len(weights), count, p=weights / weights.sum()),
        processes=processes, size=size, files=files, pattern=pattern,
        read_percent=np.select(
            [percent == 0, percent == 1, percent == 2],
            [0, 100, rng.integers(90, 100, count)], rng.integers(1, 90, count),
        ),
        volume=UNIT * np.exp(rng.normal(6, 2.5, count)).astype(np.int64) + UNIT,
        operations=rng.integers(1, 9, count),
        consecutive_percent=np.rint(100 * rng.beta(4, 1.1, count)).astype(np.int64),
        small_percent=np.rint(100 * rng.beta(0.6, 0.8, count)).astype(np.int64),
        stripe=stripe, width=rng.choice(WIDTHS[1:], count, p=[0.4, 0.3, 0.2, 0.1]),
        layer=_layers(rng, size), offset_told=(rng.random(count) < 0.7) | (stripe == 3),
        rate=np.where(low, rng.uniform(5e7, 9e8, count), rng.uniform(2e9, 4e10, count)),
        idle_s=np.where(rng.random(count) < 0.3, rng.uniform(0.5, 5, count), 0.0),
    )  # fmt: skip


def _files(rng: np.random.Generator, processes: Ints) -> tuple[Ints, Ints]:
    """Draw how many files each run has, and who shares them."""
    count = len(processes)
    drawn = rng.random(count)
    pattern = np.select([drawn < 0.10, (drawn < 0.16) & (processes <= _N_N_AT_MOST)], [1, 2], 3)
    pattern[processes == 1] = 0
    free = 2 + rng.exponential(1, count)
    free *= 1.13 * _MEAN_FILES / free.mean()
    files = np.maximum(2, free.astype(np.int64))
    files = np.where(files == processes, files + 1, files)
    files = np.select([pattern == 1, pattern == 2], [rng.integers(1, 4, count), processes], files)
    return files, pattern


def _layers(rng: np.random.Generator, size: Ints) -> Ints:
    posix, independent = np.array(_LAYER_SHARES)[size].T
    drawn = rng.random(len(size))
    layer: Ints = np.select([drawn < posix, drawn < posix + independent], [0, 1], 2)
    return layer


def bitmaps() -> list[bytes]:
    """Return the set of OSTs of each width and first OST: `width index * OSTS + first`."""
    made = []
    for width in WIDTHS:
        for first in range(OSTS):
            bits = sum(1 << ((first + i) % OSTS) for i in range(width))
            made.append(bits.to_bytes((bits.bit_length() + 7) // 8, "little"))
    return made
