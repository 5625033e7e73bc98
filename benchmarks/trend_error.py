"""How often trends cry wolf, and how often they find an increase, on noise as it was measured.

Run with `make bench`. The noise of each signal is log-normal and remembers, on a daily rhythm, and
some signals have bursts of their own; on a real day of a large site the same number (the standard
deviation of six minutes' mean against the half hour before, in logarithms) was 0.07 to 0.28.
"""

import argparse
import sys

import numpy as np

from pfscope.watch.model import Direction, Signal
from pfscope.watch.trend import Trends

STEP_US, DAY_STEPS, START_US = 120_000_000, 720, 1_666_828_800_000_000
INTERVALS, AIM_FOUND, AIM_FALSE = 3, 0.95, 1.0
GROUP_US = 1_800_000_000
"""Changes that follow each other within so long are one for who reads them."""


class Site:
    """Rates of many signals, step by step."""

    def __init__(self, count, seed):
        self._random = random = np.random.default_rng(seed)
        self.count = count
        self._sigma = random.uniform(0.07, 0.28, count)
        self._memory = random.choice([0.8, 0.9, 0.97], count)
        self._level = np.exp(random.uniform(np.log(20), np.log(5000), count))
        self._daily = random.uniform(0.0, 0.5, count)
        self._bursts = random.random(count) < 0.1
        self._now = random.normal(0.0, self._sigma)
        self._left, self._size = np.zeros(count), np.zeros(count)

    def rates(self, step):
        """Go on by one step."""
        random, memory = self._random, self._memory
        shock = random.normal(0.0, self._sigma * np.sqrt(1.0 - memory**2))
        self._now = memory * self._now + shock
        new = self._bursts & (self._left <= 0) & (random.random(self.count) < 4 / DAY_STEPS)
        self._left = np.where(new, random.integers(1, 8, self.count), self._left - 1)
        self._size = np.where(new, random.exponential(0.3, self.count), self._size)
        rhythm = self._daily * np.sin(2.0 * np.pi * step / DAY_STEPS)
        return self._level * np.exp(self._now + rhythm + self._size * (self._left > 0))


def interval(step):
    return START_US + (step + 1) * STEP_US, START_US + step * STEP_US


def found(trends, coming, step, factor):
    """Tell which signals are found to rise if all do so now; the trends are left as they were."""
    copy, names = Trends.restore(trends.state()), set()
    for ahead, rates in enumerate(coming):
        for change in copy.update(*interval(step + ahead), rates * factor, True):
            if change.end_us is None and change.direction is Direction.UP:
                names.add(change.signal)
    return [signal in names for signal in trends.signals]


def groups(times):
    """Return how many groups there are."""
    times = np.sort(times)
    return int((np.diff(times, prepend=-GROUP_US) >= GROUP_US).sum())


def measure(days, count, seed, factor):
    """Return the part that was found, the changes without a reason, and the groups of these."""
    site = Site(count, seed)
    trends = Trends([Signal("s", "target", str(n), "read") for n in range(count)])
    coming = [site.rates(step) for step in range(INTERVALS)]
    hits, false = [], []
    for step in range(days * DAY_STEPS):
        if step > DAY_STEPS and step % 331 == 0:
            hits.append(found(trends, coming, step, factor))
        said = trends.update(*interval(step), coming.pop(0), True)
        false += [c.found_us for c in said if c.end_us is None]
        coming.append(site.rates(step + INTERVALS))
    return float(np.mean(hits)), len(false), groups(false)


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--days", type=int, default=20)
    parser.add_argument("--signals", type=int, default=560)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--factor", type=float, default=5.0)
    args = parser.parse_args()
    part, changes, false = measure(args.days, args.signals, args.seed, args.factor)
    print(f"{args.signals} signals on {args.days} quiet days, seed {args.seed}")
    print(f"  rises to {args.factor:g} times the usual found within {INTERVALS} intervals: "
          f"{part:.1%} of single signals   aim: {AIM_FOUND:.0%}")  # fmt: skip
    print(f"  changes without a reason: {changes} in {false} groups, "
          f"{30 * false / args.days:.1f} a month   aim: at most {AIM_FALSE:g}")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
