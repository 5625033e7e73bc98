"""Darshan logs read for the lake: one run each, with the counters that the lake keeps, checked.

A run is read whole before anything of it is used, so that a log that is damaged at its end leaves
nothing behind.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pfscope.logs.darshan import (
    LIMITS,
    Counters,
    DarshanError,
    DarshanLog,
    Heatmap,
    Job,
    Layouts,
    Limits,
    Names,
    user_of,
)
from pfscope.mine.schema_darshan import COUNTERS

_RANKS: Final = (
    "FASTEST_RANK", "FASTEST_RANK_BYTES", "SLOWEST_RANK", "SLOWEST_RANK_BYTES",
    "F_FASTEST_RANK_TIME", "F_SLOWEST_RANK_TIME", "F_VARIANCE_RANK_TIME", "F_VARIANCE_RANK_BYTES",
)  # fmt: skip
_ACCESSES: Final = [f"ACCESS{i}_{what}" for i in (1, 2, 3, 4) for what in ("ACCESS", "COUNT")]
_SPENT: Final = (
    "BYTES_READ", "BYTES_WRITTEN", "F_READ_START_TIMESTAMP", "F_WRITE_START_TIMESTAMP",
    "F_READ_END_TIMESTAMP", "F_WRITE_END_TIMESTAMP", "F_READ_TIME", "F_WRITE_TIME", "F_META_TIME",
)  # fmt: skip
_OF_OBJECTS: Final = {
    "H5D": ["file_id", "H5D_OPENS", "H5D_READS", "H5D_WRITES"],
    "PNETCDF_VAR": [
        "file_id",
        *(f"PNETCDF_VAR_{word}" for word in (
            "OPENS", "INDEP_READS", "COLL_READS", "NB_READS", "INDEP_WRITES", "COLL_WRITES",
            "NB_WRITES",
        )),
    ],
    "DAOS": [
        f"DAOS_{word}" for word in (
            "OBJ_OPENS", "ARRAY_OPENS", "KV_OPENS", "OBJ_FETCHES", "ARRAY_READS", "KV_GETS",
            "OBJ_UPDATES", "ARRAY_WRITES", "KV_PUTS",
        )
    ],
}  # fmt: skip
FILE_MODULES: Final = ("POSIX", "MPI-IO", "STDIO", "DFS", "H5F", "PNETCDF_FILE")
"""Modules that count by file."""
OBJECT_MODULES: Final = tuple(_OF_OBJECTS)


def _wanted() -> dict[str, tuple[str, ...]]:
    wanted = {module: [] for module in FILE_MODULES}  # type: dict[str, list[str]]
    for counter in COUNTERS:
        wanted[counter.module].append(counter.name)
    wanted["POSIX"] += [f"POSIX_{word}" for word in (*_RANKS, *_ACCESSES)]
    for module, words in _OF_OBJECTS.items():
        wanted[module] = [*words, *(f"{module}_{word}" for word in _SPENT)]
    return {module: tuple(words) for module, words in wanted.items()}


_MOST_SETS: Final = 1 << 28
WANTED: Final = _wanted()
"""What is read of each module."""


class Run(NamedTuple):
    """A log, read."""

    digest: str
    job: Job
    user: str | None
    log_version: str
    modules: tuple[str, ...]
    partial: tuple[str, ...]
    counters: dict[str, Counters]
    layouts: Layouts | None
    heatmap: Heatmap | None
    names: Names

    @property
    def date(self) -> str:
        """The day on which it began."""
        return date_of(self.job.start_us)

    @property
    def order(self) -> tuple[str, str, str]:
        """Where it stands among others, by day and by the keys of the tables."""
        return (self.date, str(self.job.job_id), self.digest)

    @property
    def records(self) -> int:
        """How many records it has."""
        return sum(found.rows for found in self.counters.values())


def date_of(time_us: int) -> str:
    """Return the day of a time.

    >>> date_of(0)
    '1970-01-01'
    """
    return datetime.fromtimestamp(time_us // 10**6, UTC).strftime("%Y-%m-%d")


def read_run(data: bytes, digest: str, file_name: str, limits: Limits = LIMITS) -> Run:
    """Read all of a log but its traces; DarshanError: it cannot be read."""
    return run_of(DarshanLog(data, limits), digest, file_name, limits)


def run_of(log: DarshanLog, digest: str, file_name: str, limits: Limits = LIMITS) -> Run:
    """Read all of an open log but its traces."""
    job = log.job
    counters = {}
    left = limits.records
    for module, words in WANTED.items():
        if module in log.modules:
            counters[module] = log.counters(module, words)
            left -= counters[module].rows
    if left < 0:
        raise DarshanError(f"the log has more than the {limits.records} records that are allowed")
    layouts = log.lustre() if "LUSTRE" in log.modules else None
    if layouts is not None:
        _check_sets(layouts)
    return Run(
        digest,
        job,
        user_of(PurePath(file_name).name, job.executable),
        log.header.version,
        log.modules,
        log.partial,
        counters,
        layouts,
        log.heatmap() if "HEATMAP" in log.modules else None,
        log.names,
    )


def _check_sets(layouts: Layouts) -> None:
    """Refuse OSTs so high that the sets of all files would take more than any site's do."""
    lengths = np.zeros(layouts.rows, np.int64)
    np.maximum.at(lengths, layouts.owners, layouts.osts // 8 + 1)
    if lengths.sum() > _MOST_SETS:
        raise DarshanError(f"the sets of OSTs of its files would take {lengths.sum()} bytes")


class Records(NamedTuple):
    """The records of a module in several runs, side by side."""

    names: tuple[str, ...]
    run: NDArray[np.int64]
    """Of which run each is."""
    words: NDArray[np.int64]
    """A row for each name, a column for each record."""

    @property
    def ids(self) -> NDArray[np.int64]:
        """Their record ids."""
        return self.column("id")

    @property
    def ranks(self) -> NDArray[np.int64]:
        """Their ranks."""
        return self.column("rank")

    def column(self, name: str) -> NDArray[np.int64]:
        """Return a column of words."""
        found: NDArray[np.int64] = self.words[self.names.index(name)]
        return found


def gather(runs: list[Run], module: str) -> Records | None:
    """Put the records of a module side by side; None where no run has any."""
    found = [(i, run.counters[module]) for i, run in enumerate(runs) if module in run.counters]
    if not sum(counters.rows for _, counters in found):
        return None
    of_run = np.repeat([i for i, _ in found], [counters.rows for _, counters in found])
    parts = [counters.words for _, counters in found]
    words = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
    return Records(found[0][1].names, of_run.astype(np.int64), words)


def days(runs: list[Run]) -> Iterator[tuple[str, int, int]]:
    """Yield each day of runs that are in order, with the first of its runs and the one behind."""
    begin = 0
    for i in range(1, len(runs) + 1):
        if i == len(runs) or runs[i].date != runs[begin].date:
            yield runs[begin].date, begin, i
            begin = i
