"""How fast the critical path of many files is found, beside a sweep step by step in plain Python.

Files come as jobs have them: most overlap with many others (`busy`), or follow one another, so that
all of them are on the path (`in turn`), or belong to many jobs that are swept together (`many`).
"""

import time

import numpy as np

from pfscope.mine.sweep import sweep
from tests.support import plain_sweep

_FILES = 1_000_000
_JOBS = 45_000


def main():
    random = np.random.default_rng(7)
    begins = random.uniform(0, 3600, _FILES)
    turns = np.arange(_FILES, dtype=float)
    jobs = random.integers(0, _JOBS, _FILES)
    print(f"critical path of {_FILES:,} files, in seconds of CPU:")
    _row("busy", begins, begins + random.exponential(5, _FILES))
    _row("in turn", turns, turns + 0.9)
    _row("many", begins, begins + random.exponential(5, _FILES), jobs)


def _row(name, start, end, group=None):
    ours, path = _best(lambda: sweep(start, end, group))
    theirs, plain = _best(lambda: _plain(start, end, group))
    assert len(plain) == len(path.interval)
    assert np.isclose(sum(e - s for _, s, e in plain), path.length.sum())
    print(
        f"  {name:<8} {ours:6.2f} s, plain Python {theirs:6.2f} s: {theirs / ours:4.1f} times as"
        f" fast, {len(plain):,} files on the path"
    )


def _best(work):
    """Return the shortest of three times, and what was made."""
    times = []
    for _ in range(3):
        at = time.process_time()
        made = work()
        times.append(time.process_time() - at)
    return min(times), made


def _plain(start, end, group):
    files = list(zip(range(len(start)), start.tolist(), end.tolist(), strict=True))
    if group is None:
        return plain_sweep.sweep(files)
    of_job = [[] for _ in range(int(group.max()) + 1)]
    for job, file in zip(group.tolist(), files, strict=True):
        of_job[job].append(file)
    return [piece for job in of_job for piece in plain_sweep.sweep(job)]


if __name__ == "__main__":
    main()
