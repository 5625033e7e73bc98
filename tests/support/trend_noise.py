"""Signals as a file system makes them: log-normal, with memory, with days and nights."""

import numpy as np

from pfscope.watch.model import Signal

STEP_US = 120_000_000
DAY_STEPS = 720
START_US = 1_666_828_800_000_000


def signals(count, unit="requests"):
    return [Signal("scratch", "target", f"scratch-OST{n:04x}", "read", unit) for n in range(count)]


def noise(random, steps, count, *, sigma=0.2, memory=0.9, daily=0.3, level=100.0):
    """Return rates: an AR(1) process of their logarithms, on a daily rhythm."""
    logs = np.zeros((steps, count))
    shocks = random.normal(0.0, sigma * np.sqrt(1.0 - memory**2), (steps, count))
    now = random.normal(0.0, sigma, count)
    for step in range(steps):
        now = memory * now + shocks[step]
        logs[step] = now
    phase = 2.0 * np.pi * np.arange(steps)[:, None] / DAY_STEPS
    return level * np.exp(logs + daily * np.sin(phase))


def run(trends, values, first=0, observed=True, step_us=STEP_US):
    """Give steps to trends, one after the other; return all that they say."""
    said = []
    seen = np.broadcast_to(observed, values.shape)
    for step, row in enumerate(values, first):
        begin = START_US + step * step_us
        said += trends.update(begin + step_us, begin, row, seen[step - first])
    return said


def found(changes):
    return [change for change in changes if change.end_us is None]


def minute(time_us):
    return (time_us - START_US) / 60e6
