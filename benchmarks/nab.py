"""How well the shipped trend detector does on series of other kinds: the Numenta Anomaly Benchmark.

    python -m benchmarks.nab PATH

PATH is a checkout of github.com/numenta/NAB, of which nothing is included here. The detector, its
settings and its threshold are the same for all files. The score is that of NAB's standard profile:
the first detection in a window around an anomaly counts the more the earlier it comes, every one
outside costs; 0 is who never says a word, 100 who says exactly the right one at once.
"""

import argparse
import csv
import json
import math
import sys
from datetime import datetime
from pathlib import Path

import numpy as np

from pfscope.watch.model import Signal
from pfscope.watch.trend import Trends
from pfscope.watch.trend_config import Scale, TrendSettings, Unit

AIM = 55.0
FALSE_COSTS, MISS_COSTS = 0.11, 1.0
PROBATION = 0.15
ROW_US = 300_000_000
"""Most files have a row for every five minutes; those that have fewer are taken as if they did."""
SETTINGS = {
    "scales": (Scale(600.0, 86_400.0), Scale(7_200.0, 259_200.0)),
    "sigmas": 3.0, "ratio": 1.0, "rare_days": 30.0, "lasts_s": 0.0, "rest_s": 14_400.0,
    "settle_s": 43_200.0, "warm_up_s": 7_200.0, "straying": 1.0, "spread_s": 1_209_600.0,
    "sigma_least": 0.0, "tail_size": 0.7, "tail_clip": 5.0, "tail_memory_days": 200.0,
    "rhythm_hours": 24,
}  # fmt: skip
"""Values instead of rates, in which one row may matter; chosen for the corpus as a whole."""


def read(path):
    """Return the times and the values of a file."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    times = [datetime.fromisoformat(row["timestamp"]) for row in rows]
    return times, np.array([float(row["value"]) for row in rows])


def probation(count):
    """Return how many rows are there to learn from, and neither rewarded nor punished."""
    return min(int(PROBATION * count), int(PROBATION * 5000))


def unit(values):
    """Return a unit that fits what a series shows of itself in its probation."""
    first = values[: probation(len(values))]
    spread = float(np.std(first)) or float(np.abs(first).mean()) or 1.0
    return Unit(0.1 * spread, 0.0, 0.0, log=False)


def detections(series, settings):
    """Return the rows at which a change was found in each series; all go side by side."""
    signals = [Signal("nab", "file", name, "value", name) for name in series]
    units = {name: unit(values) for name, values in series.items()}
    trends = Trends(signals, TrendSettings(units=units, **settings))
    table = np.full((max(map(len, series.values())), len(series)), np.nan)
    for column, values in enumerate(series.values()):
        table[: len(values), column] = values
    found = {name: [] for name in series}
    for row, values in enumerate(table, 1):
        for change in trends.update(row * ROW_US, (row - 1) * ROW_US, values, True):
            if change.end_us is None:
                found[change.signal.name].append(row - 1)
    return found


def sigmoid(position):
    """Return the worth of a detection: -1 at a window's begin, 0 at its end, above 0 behind it."""
    return -1.0 if position > 3.0 else 2.0 / (1.0 + math.exp(5.0 * position)) - 1.0


def score(rows, windows, count):
    """Return NAB's raw score of one file; windows are pairs of first and last row."""
    rows = [row for row in rows if row >= probation(count)]
    windows = [w for w in windows if w[1] >= probation(count)]
    hits, total = {}, 0.0
    for row in rows:
        inside = next((w for w in windows if w[0] <= row <= w[1]), None)
        if inside:
            width = inside[1] - inside[0] + 1
            worth = sigmoid(-(inside[1] - row + 1) / width) / sigmoid(-1.0)
            hits[inside] = max(hits.get(inside, -1.0), worth)
        else:
            total += FALSE_COSTS * sigmoid(_behind(row, windows))
    return total + sum(hits.get(w, -MISS_COSTS) for w in windows), len(hits)


def _behind(row, windows):
    """Return how far a row is behind the last window, in its widths."""
    before = [w for w in windows if w[1] < row]
    return (row - before[-1][1]) / (before[-1][1] - before[-1][0]) if before else math.inf


def corpus(path):
    """Return the values and the windows of every file."""
    labels = json.loads((path / "labels" / "combined_windows.json").read_text())
    series, windows = {}, {}
    for name, spans in labels.items():
        times, series[name] = read(path / "data" / name)
        at = {time: row for row, time in enumerate(times)}
        windows[name] = [tuple(at[datetime.fromisoformat(t)] for t in span) for span in spans]
    return series, windows


def evaluate(series, windows, settings):
    """Return the score, and how many windows were hit, how many detections were outside."""
    raw, hits, total, outside = 0.0, 0, 0, 0
    for name, rows in detections(series, settings).items():
        count = len(series[name])
        found, hit = score(rows, windows[name], count)
        raw, hits = raw + found, hits + hit
        total += sum(w[1] >= probation(count) for w in windows[name])
        inside = (any(a <= row <= b for a, b in windows[name]) for row in rows)
        outside += sum(
            row >= probation(count) and not i for row, i in zip(rows, inside, strict=True)
        )
    return 100.0 * (raw + total * MISS_COSTS) / (2.0 * total), hits, total, outside


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("path", type=Path, help="a checkout of github.com/numenta/NAB")
    found, hits, total, outside = evaluate(*corpus(parser.parse_args().path), SETTINGS)
    print(f"NAB, standard profile: {found:.1f}   aim: at least {AIM:g}")
    print(f"  {hits} of {total} windows hit, {outside} detections outside of them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
