"""A synthetic month of logs: a lake like an imported one, and `truth.json`: what is known of it.

Everything is made from a seed, in arrays, a day at a time: the same seed gives the same month.
"""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np

from pfscope.errors import InputError, UsageError
from pfscope.mine.lake import writing
from pfscope.mine.parts import Parts
from pfscope.mine.synth_files import files_of
from pfscope.mine.synth_others import Others
from pfscope.mine.synth_rows import Names, file_rows, job_rows
from pfscope.mine.synth_truth import truth
from pfscope.mine.synth_world import DAYS, START, Runs, runs

TRUTH: Final = "truth.json"
_BATCH: Final = "synthetic"
_MOST: Final = 5_000_000
_AT_ONCE: Final = 4096
"""Runs whose files are made together: some hundred thousand rows."""


def synthesize(
    out: Path, jobs: int, seed: int = 7, days: int = DAYS,
    told: Callable[[int], None] = lambda _: None,
) -> dict[str, Any]:  # fmt: skip
    """Write the month, and return what is known of it; `told` is called with runs that are done."""
    if not 1 <= jobs <= _MOST:
        raise UsageError(f"--jobs must be from 1 to {_MOST}")
    if not 1 <= days <= DAYS:
        raise UsageError(f"--days must be from 1 to {DAYS}")
    if out.exists() and any(out.iterdir()):
        raise InputError(f"{out} is not empty: name a new directory")
    month = runs(jobs, seed, days)
    rng = np.random.default_rng([seed, 1])
    names = Names(month, rng)
    with writing(out) as lake:
        parts = Parts(lake.staging(_BATCH), _BATCH)
        for chosen in _pieces(month):
            date = (START + timedelta(microseconds=int(month.start_us[chosen.start]))).date()
            files = files_of(month, chosen, rng)
            rows = file_rows(month, chosen, files, names)
            parts.write("darshan_file", date.isoformat(), rows)
            parts.write(
                "darshan_job", date.isoformat(), job_rows(month, chosen, files, rows, names)
            )
            told(chosen.stop - chosen.start)
        others = Others(month, rng)
        for table, day, rows in others.tables():
            parts.write(table, day, rows)
        parts.close()
        lake.commit(_BATCH)
    known = truth(month, others)
    (out / TRUTH).write_text(json.dumps(known, indent=1))
    return known


def _pieces(month: Runs) -> Iterator[slice]:
    """Return runs of one day each, so many that their files fit into memory."""
    days = month.start_us // (86400 * 10**6)
    for day in range(month.days):
        first, last = (int(i) for i in np.searchsorted(days, [day, day + 1]))
        for start in range(first, last, _AT_ONCE):
            yield slice(start, min(start + _AT_ONCE, last))


__all__ = ["TRUTH", "synthesize"]
