"""Times in which a target was not observed are found, whatever else there is."""

import pyarrow as pa

from pfscope.report.section_quality import silences
from pfscope.store.schema import TIME

STEP = 120_000_000


def reads(**places):
    rows = [(step * STEP, target) for target, steps in places.items() for step in steps]
    return pa.table(
        {
            "time": pa.array([time for time, _ in rows], pa.int64()).cast(TIME),
            "target": [target for _, target in rows],
            "entries": [1] * len(rows),
        }
    )


def test_a_target_that_is_always_observed_has_none():
    assert silences(reads(a=range(11)), 0, 10 * STEP) == {}


def test_one_read_that_is_late_is_no_silence():
    assert silences(reads(a=[0, 1, 2, 4, 5, 6]), 0, 6 * STEP) == {}


def test_silences_are_told_once_for_all_targets_that_share_them():
    found = reads(a=[0, 1, 2, 3, 8, 9, 10], b=[0, 1, 2, 3, 8, 9, 10], c=range(11))
    assert silences(found, 0, 10 * STEP) == {(3 * STEP, 8 * STEP): ["a", "b"]}


def test_a_target_that_came_late_or_went_early_was_silent():
    found = reads(a=range(21), b=range(5, 21), c=range(11))
    assert silences(found, 0, 20 * STEP) == {
        (0, 5 * STEP): ["b"], (10 * STEP, 20 * STEP): ["c"],
    }  # fmt: skip
