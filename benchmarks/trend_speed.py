"""How long one step of all trends of a site takes. Run with `make bench`.

A Puhti snapshot: 28 targets with 20 operations each on three scales, and 300 users beside them. The
baseline works out the averages alone, with pandas over the values of a day, anew at each step.
"""

import sys
import time

import numpy as np
import pandas as pd

from pfscope.watch.model import Signal
from pfscope.watch.trend import Trends

AIM_MS, TARGETS, OPERATIONS, USERS, STEP_US = 100.0, 28, 20, 300, 120_000_000


def signals():
    names = [("target", f"scratch-{t:04x}", f"operation{o}") for t in range(TARGETS)
             for o in range(OPERATIONS)]  # fmt: skip
    names += [("user", f"{10_000 + u}", "iops") for u in range(USERS)]
    return [Signal("scratch", *name) for name in names]


def baseline_ms(trends):
    """Return how long pandas takes for the averages of one step, of a day of values."""
    count = 86_400_000_000 // STEP_US
    values = np.random.default_rng(1).normal(0.0, 0.3, (count, len(trends.signals)))
    day = pd.DataFrame(values, index=pd.to_datetime(np.arange(count) * STEP_US, unit="us"))
    before = time.perf_counter()
    for scale in trends.settings.scales:
        for window_s in (scale.short_s, scale.long_s):
            day.ewm(halflife=pd.Timedelta(seconds=window_s), times=day.index).mean().iloc[-1]
    return 1000 * (time.perf_counter() - before)


def main(steps=300):
    random, watched = np.random.default_rng(1), signals()
    trends, spent, found = Trends(watched), [], 0
    for n in range(1, steps + 1):
        values = 100.0 * np.exp(random.normal(0.0, 0.3, len(watched)))
        values[::7] *= 20.0 if n > steps * 0.9 else 1.0
        before = time.perf_counter()
        found += len(trends.update(n * STEP_US, (n - 1) * STEP_US, values, True))
        spent.append(1000 * (time.perf_counter() - before))
    scales = len(trends.settings.scales)
    print(f"one step of {len(watched)} signals on {scales} scales ({found} changes in {steps})")
    print(f"  median {np.median(spent):8.2f} ms")
    print(f"  worst  {max(spent):8.2f} ms   aim: under {AIM_MS:g} ms")
    peer = baseline_ms(trends)
    print(f"  pandas {peer:8.2f} ms   {peer / np.median(spent):.0f} times as long")
    return 0


if __name__ == "__main__":
    sys.exit(main())
