"""A synthetic month as a lake, made once for all tests of a process."""

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from pfscope.mine.synth import TRUTH, synthesize

_KEPT = []


@cache
def month(jobs=400, seed=7, days=31):
    """Return the directory of a month of so many runs."""
    folder = TemporaryDirectory(prefix="pfscope-month-")
    _KEPT.append(folder)
    lake = Path(folder.name, "lake")
    synthesize(lake, jobs, seed, days)
    return lake


def truth_of(lake):
    """Return what is known of a month."""
    return json.loads((lake / TRUTH).read_text())
