"""Lines are the step functions of answers: zero where there is no row, never between two values."""

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from pfscope.report.lines import Line, Steps, lines_of, stroke, summed
from pfscope.store.schema import TIME

STEP = 120_000_000
COUNT = 12


def table(rows):
    times = pa.array([time for time, _, _ in rows], pa.int64()).cast(TIME)
    users = pa.array([user for _, user, _ in rows], pa.string())
    return pa.table({"time": times, "user": users, "rate": [rate for _, _, rate in rows]})


def value_at(x, y, time):
    """Return what Plotly draws with `vh`: the value of the next point."""
    place = int(np.searchsorted(x, time))
    return y[place] if place < len(x) else np.nan


@st.composite
def steps_of_users(draw):
    return {
        (step, user): draw(st.floats(0.001, 1e6))
        for step in range(1, COUNT + 1)
        for user in ("a", "b", None)
        if draw(st.booleans())
    }


@settings(deadline=None, max_examples=60)
@given(steps_of_users(), st.booleans())
def test_a_stroke_is_the_rate_at_any_time(rows, zeros):
    found = table([(step * STEP, user, rate) for (step, user), rate in rows.items()])
    steps = Steps.of(0, COUNT * STEP, found)
    for line in lines_of(found, ["user"]):
        x, y = stroke(line, steps, zeros=zeros)
        assert (np.diff(x) >= 0).all()
        for step in range(1, COUNT + 1):
            seen = value_at(x, y, step * STEP - STEP // 2)
            rate = rows.get((step, line.name[0]))
            if rate is None:
                assert seen == 0 if zeros else np.isnan(seen)
            elif len({s for s, _ in rows}) > 2 or steps.length_us() == STEP:
                assert seen == rate


def test_steps_that_are_cut_keep_their_length():
    found = table([(t * STEP, "a", 1.0) for t in (1, 2, 3)] + [(3 * STEP + STEP // 4, "a", 9.0)])
    steps = Steps.of(0, 4 * STEP, found)
    assert (steps.ends - steps.begins).tolist() == [STEP, STEP, STEP, STEP // 4]


def test_lines_come_with_the_largest_first_and_keep_those_without_a_name():
    found = table([(STEP, None, 5.0), (STEP, "a", 1.0), (2 * STEP, "a", 1.0)])
    lines = lines_of(found, ["user"])
    assert [line.name for line in lines] == [(None,), ("a",)]
    assert lines_of(found.slice(0, 0), ["user"]) == []


def test_a_sum_is_that_of_all_lines_at_each_time():
    one = Line(("a",), np.array([1, 2]), np.array([1.0, 2.0]))
    other = Line(("b",), np.array([2, 3]), np.array([10.0, 20.0]))
    whole = summed([one, other], ("all",))
    assert whole.ends.tolist() == [1, 2, 3]
    assert whole.rates.tolist() == [1.0, 12.0, 20.0]
    assert len(summed([], ("none",)).ends) == 0


def test_times_are_told_with_their_day_where_there_are_several():
    assert Steps.of(0, 24 * 30 * STEP).at(STEP) == "00:02"
    assert Steps.of(0, 25 * 30 * STEP).at(STEP) == "1970-01-01 00:02"
