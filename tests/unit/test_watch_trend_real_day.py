"""A real day of a large site: what people saw in its figures is found, in a list one can read."""

import csv
import gzip
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from pfscope.watch.model import Direction, Signal
from pfscope.watch.trend import Trends

DAY = Path(__file__).resolve().parents[2].parent / "shared/data/puhti-2022-10-27-totals.csv.gz"
MIDNIGHT_US = 1_666_828_800_000_000
MINUTE_US = 60_000_000
UP, DOWN = Direction.UP, Direction.DOWN


def _signal(target, operation):
    unit = "bytes" if operation.endswith("_bytes") else "requests"
    return Signal("scratch", "target", f"scratch-{target}", operation, unit)


@pytest.fixture(scope="module")
def changes():
    if not DAY.exists():
        pytest.skip("the real day is not on this machine; test_watch_trend.py has made-up ones")
    with gzip.open(DAY, "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    signals = sorted({_signal(row["target"], row["operation"]) for row in rows})
    place = {signal: number for number, signal in enumerate(signals)}
    values = np.full((721, len(signals)), np.nan)
    for row in rows:
        column = place[_signal(row["target"], row["operation"])]
        values[int(row["minute"]) // 2, column] = float(row["rate"])
    trends, latest = Trends(signals), {}
    for step, rates in enumerate(values):
        end = MIDNIGHT_US + 2 * step * MINUTE_US
        for change in trends.update(end, end - 2 * MINUTE_US, rates, True):
            latest[change.signal, change.start_us] = change
    return sorted(latest.values(), key=lambda change: change.start_us)


def hours(time_us):
    return (time_us - MIDNIGHT_US) / (60 * MINUTE_US)


def begun(changes, operation, direction, target=""):
    """Return when changes of an operation began, in hours."""
    return [
        hours(c.start_us)
        for c in changes
        if (c.signal.measure, c.direction) == (operation, direction) and target in c.signal.name
    ]


def test_close_drops_around_noon(changes):
    assert any(11.8 < t < 12.5 for t in begun(changes, "close", DOWN, "MDT0000"))


def test_setattr_of_the_metadata_has_large_spikes(changes):
    assert len(begun(changes, "setattr", UP, "MDT0000")) >= 3


def test_setxattr_falls_to_nothing_after_six_in_the_evening(changes):
    (fall,) = begun(changes, "setxattr", DOWN, "MDT0000")
    assert 17.8 < fall < 18.5


def test_reads_and_writes_of_single_targets_rise_after_seven(changes):
    for operation in ("read", "write"):
        times = begun(changes, operation, UP, "OST")
        assert sum(t > 7 for t in times) > 4 * sum(t < 7 for t in times)


def test_one_target_is_read_heavily_from_nine_to_two(changes):
    long = [
        change
        for change in changes
        if change.signal.measure == "read_bytes" and change.direction is UP
        and change.end_us and hours(change.end_us) - hours(change.start_us) > 4
    ]  # fmt: skip
    (one,) = long
    assert one.signal.name == "scratch-OST0004"
    assert hours(one.start_us) == pytest.approx(8.9, abs=0.2)
    assert hours(one.end_us) == pytest.approx(13.9, abs=0.2)


def test_bytes_written_spike_a_few_times(changes):
    assert begun(changes, "write_bytes", UP, "OST")


def test_punch_spikes_on_all_targets_at_once(changes):
    together = defaultdict(set)
    for change in changes:
        if change.signal.measure == "punch" and change.direction is UP:
            together[round(2 * hours(change.start_us))].add(change.signal.name)
    assert max(map(len, together.values())) >= 20
    assert sum(len(names) >= 6 for names in together.values()) >= 3


def test_reads_of_the_second_target_burst_after_half_past_two(changes):
    """They are found, or within a longer rise that began earlier."""
    reads = [c for c in changes if c.signal.measure == "read" and c.direction is UP]
    spans = [(hours(c.start_us), hours(c.end_us) if c.end_us else 24.0)
             for c in reads if c.signal.name == "scratch-OST0001"]  # fmt: skip
    assert any(start < 15 and end > 14.5 for start, end in spans)


def test_what_does_not_show_interesting_patterns_is_not_in_the_list(changes):
    dull = {"get_info", "set_info", "statfs", "link"}
    assert not dull & {change.signal.measure for change in changes}


def test_the_list_is_short_enough_to_read(changes):
    """A line for each operation and half an hour, of 261 signals in 720 steps."""
    lines = {
        (c.signal.measure, c.signal.name[8:11], c.direction, round(2 * hours(c.start_us)))
        for c in changes
    }
    assert 20 < len(lines) < 120
