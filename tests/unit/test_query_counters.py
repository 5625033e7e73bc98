"""Raw counters as figures draw them: the saw-tooth of an entry that is removed and comes back."""

import pytest

from pfscope.errors import UsageError
from tests.support.query_tables import data_of, frames_at, named, one_series, used
from tests.support.store_rows import at, moment

WRITE_BYTES, OPEN = 0, 1


def site(*rows, **more):
    return data_of(
        usage_ost=rows, operations=named(("write_bytes", "bytes"), "open"),
        series=[one_series(0, "scratch-OST0000", job="7", node="r01")],
        frames=frames_at(*(at(minute=m) for m in range(0, 61, 2))), **more,
    )  # fmt: skip


def row(minute, samples, total, since=None, **marks):
    begin = minute - 2 if since is None else since
    return used(0, at(minute=begin), at(minute=minute), samples, total, **marks)


SAW = (
    row(4, 5, 500, restarted=True), row(6, 1, 100), row(30, 2, 200, restarted=True),
    row(34, 2, 200),
)  # fmt: skip


def drawn(answer):
    return [(round((r["time"] - moment(at())).seconds / 60), r["counter"]) for r in answer]


@pytest.mark.parametrize(("operation", "unit"), [("write", 1), ("write_bytes", 100)])
def test_a_line_through_the_rows_is_the_saw_tooth(operation, unit):
    with site(*SAW) as opened:
        answer = opened.counters(job="7", operation=operation).to_pylist()
    assert set(answer[0]) == {"time", "target", "node", "counter"}
    assert drawn(answer) == [
        (2, 0), (4, 5 * unit), (6, 6 * unit), (28, 6 * unit), (28, 0), (30, 2 * unit),
        (34, 4 * unit),
    ]  # fmt: skip


def test_a_counter_goes_on_from_before_the_period():
    with site(*SAW) as opened:
        answer = opened.counters(
            operation="write", start="2022-10-27T00:05", end="2022-10-27T00:29"
        )
    assert drawn(answer.to_pylist()) == [(6, 6), (28, 6), (28, 0)]


def test_what_was_there_when_we_came_is_in_the_counter():
    past = row(2, 40, 4000, since=2, restarted=True, baseline=True)
    with site(past, row(4, 1, 100)) as opened:
        assert drawn(opened.counters(operation="write").to_pylist()) == [(2, 40), (4, 41)]


def test_another_operation_can_tell_the_restart():
    """A counter that is zero has no row to carry the mark."""
    mark = row(30, 9, 0, restarted=True, operation=OPEN)
    with site(row(4, 5, 500, restarted=True), mark, row(40, 1, 100)) as opened:
        answer = opened.counters(operation="write").to_pylist()
    assert drawn(answer) == [(2, 0), (4, 5), (28, 5), (28, 0), (30, 0), (40, 1)]


@pytest.mark.parametrize(
    ("words", "said"),
    [({}, "name it with --operation"), ({"by": "operation", "operation": "open"}, "one operation"),
     ({"operation": "open", "step": "1m"}, "leave out --step"),
     ({"operation": "open", "server": "oss1"}, "by target")],
)  # fmt: skip
def test_what_a_counter_is_not_is_refused(words, said):
    with site(*SAW) as opened, pytest.raises(UsageError, match=said):
        opened.counters(**words)
