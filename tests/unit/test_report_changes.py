"""The largest changes are found with their time, and magnitudes are counted as they are."""

import numpy as np

from pfscope.report.figure_changes import largest_changes, magnitudes
from pfscope.report.lines import Line, Steps

STEP = 120_000_000
COUNT = 60


def steps():
    ends = np.arange(1, COUNT + 1) * STEP
    return Steps(0, COUNT * STEP, ends, ends - STEP)


def line(target, operation, usual, **bursts):
    rates = np.full(COUNT, float(usual))
    for place, rate in bursts.items():
        first, last = (int(part) for part in place[1:].split("_"))
        rates[first:last] = rate
    return Line((target, operation), steps().ends, rates)


def test_a_burst_is_found_with_its_time_and_factor():
    (change,) = largest_changes([line("MDT0", "open", 10, _20_30=200)], steps())
    assert (change.start_us, change.end_us) == (20 * STEP, 30 * STEP)
    assert (change.busiest, change.usual, change.factor) == (200, 10, 20)


def test_each_target_and_each_operation_is_told_once_the_largest_first():
    lines = [
        line("MDT0", "open", 10, _20_30=1000),
        line("MDT0", "close", 10, _20_30=2000),
        line("OST0", "read", 10, _20_30=500),
        line("OST1", "read", 10, _20_30=400),
        line("OST2", "write", 10, _50_60=300),
    ]
    found = largest_changes(lines, steps())
    assert [(c.target, c.operation) for c in found] == [
        ("MDT0", "close"), ("OST0", "read"), ("OST2", "write"),
    ]  # fmt: skip
    assert [c.also for c in found] == [0, 1, 0]


def test_what_is_small_does_not_count_and_bytes_are_compared_with_bytes():
    lines = [
        line("MDT0", "open", 10_000, _20_30=20_000),
        line("MDT1", "link", 0.001, _20_30=1),
        line("OST0", "read_bytes", 1e6, _20_30=3e6),
    ]
    found = largest_changes(lines, steps())
    assert [c.operation for c in found] == ["read_bytes", "open"]
    assert [c.unit for c in found] == ["bytes", "requests"]


def test_nothing_that_stays_as_it_is_changes():
    assert largest_changes([line("MDT0", "open", 10)], steps()) == []
    assert largest_changes([], steps()) == []


def test_parts_of_renames_are_not_told_beside_them():
    assert largest_changes([line("MDT0", "samedir_rename", 1, _20_30=9)], steps()) == []


def test_magnitudes_count_everyone_once():
    peaks = [5000.0, 700.0, 300.0, 40.0, 4.0, 0.4]
    users = [Line((str(n),), np.array([STEP]), np.array([peak])) for n, peak in enumerate(peaks)]
    assert magnitudes(users, "requests") == (
        "One user goes above 1 k/s (0, at 00:02), two between 100/s and 1 k/s, and three stay "
        "below 100/s."
    )
    assert magnitudes(users[:1], "bytes").startswith("One user goes above 1 kB/s")


def test_what_has_no_user_is_not_counted_as_one():
    nobody = Line((None,), np.array([STEP]), np.array([5000.0]))
    someone = Line(("1001",), np.array([STEP]), np.array([2.0]))
    assert magnitudes([nobody], "requests") == "No id tells who did it."
    told = magnitudes([nobody, someone], "requests")
    assert told.startswith("One user goes above 1/s (1001, at 00:02), none between")
    assert told.endswith("Ids that tell no user are not counted.")


def test_another_time_is_another_change_where_that_is_asked_for():
    lines = [
        line("OST0", "read", 10, _20_30=100, _40_50=40),
        line("OST1", "read", 10, _20_30=90),
        line("OST0", "write", 10, _42_48=30),
    ]
    found = largest_changes(lines, steps(), 5, again=True)
    assert [(c.target, c.operation, c.start_us // STEP) for c in found] == [
        ("OST0", "read", 20), ("OST0", "read", 40),
    ]  # fmt: skip
    assert [c.also for c in found] == [1, 0]


def test_a_long_change_is_larger_than_a_short_one():
    lines = [line("MDT0", "open", 10, _20_22=100), line("OST0", "read", 10, _20_40=40)]
    assert [c.operation for c in largest_changes(lines, steps())] == ["read", "open"]
