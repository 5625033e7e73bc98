"""What is known of the synthetic month: the statistics' answers, counted from what was drawn.

Nothing here looks at the lake, nor at a counter: only at the codes and whole percentages of runs.
"""

from typing import Any, Final

import numpy as np

from pfscope.mine.synth_others import Others
from pfscope.mine.synth_world import APPLICATIONS, LAYERS, PATTERNS, STRIPES, Flags, Ints, Runs

TOP: Final = 10
_LOW_BYTES_EACH: Final = 10**7
_LOW_RATE: Final = 10**9
_LOW_PROCESSES: Final = 1000


def truth(month: Runs, others: Others) -> dict[str, Any]:
    """Return the answers."""
    return {
        "runs": len(month),
        "files": int(month.files.sum()),
        "stripes": _stripes(month),
        "top_read": _top(month.application, month.read),
        "top_written": _top(month.application, month.written),
        "sequential": np.bincount(month.consecutive_percent, minlength=101).tolist(),
        "read_ratio": np.bincount(month.read_percent, minlength=101).tolist(),
        "sharing": _counted(month.pattern, PATTERNS, month.pattern > 0),
        "middleware": [_counted(month.layer, LAYERS, month.size == i) for i in range(4)],
        "coverage": _coverage(month, others),
        "low_read": _low(month, month.read),
        "low_written": _low(month, month.written),
    }


def _stripes(month: Runs) -> dict[str, int]:
    lustre = month.stripe >= 0
    counts = _counted(month.stripe, STRIPES, lustre)
    del counts["default"]
    customised = sum(counts.values())
    return {"lustre_runs": int(lustre.sum()), "customised": customised, **counts}


def _counted(codes: Ints, names: tuple[str, ...], among: Flags) -> dict[str, int]:
    counts = np.bincount(codes[among], minlength=len(names))
    return {name: int(n) for name, n in zip(names, counts, strict=True) if name != "one process"}


def _top(application: Ints, moved: Ints) -> dict[str, Any]:
    """Return the applications that moved most, and all bytes; sums are exact."""
    sums = np.zeros(len(APPLICATIONS), np.int64)
    np.add.at(sums, application, moved)
    order = np.argsort(-sums, kind="stable")[:TOP]
    return {
        "applications": {APPLICATIONS[i]: int(sums[i]) for i in order if sums[i]},
        "all": int(sums.sum()),
    }


def _coverage(month: Runs, others: Others) -> dict[str, list[int]]:
    """Return what Darshan saw, and what there was."""
    lustre = month.stripe >= 0
    logged = np.arange(len(others.cpus)) < len(month)
    done = others.completed
    used = others.core_seconds
    return {
        "bytes_read": [int(month.read[lustre].sum()), int(others.lmt_read.sum())],
        "bytes_written": [int(month.written[lustre].sum()), int(others.lmt_written.sum())],
        "core_seconds": [int(used[logged & done].sum()), int(used[done].sum())],
        "jobs": [int((logged & done).sum()), int(done.sum())],
    }


def _low(month: Runs, moved: Ints) -> int:
    """Return how many large runs were slower than 1 GB/s."""
    many = month.processes > _LOW_PROCESSES
    return int(
        (many & (moved >= _LOW_BYTES_EACH * month.processes) & (month.rate < _LOW_RATE)).sum()
    )
