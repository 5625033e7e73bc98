"""What is counted, on the lines of every release: nothing twice, bytes never with requests."""

import pytest

from pfscope.errors import UsageError
from pfscope.query.metrics import (
    SHIPPED,
    Metric,
    every_operation,
    find_metric,
    names,
    term_of,
    timed_operations,
)
from tests.support.query_tables import data_of, frames_at, named, one_series, used

OLD = (("open", "reqs"), ("read", "bytes"), ("write", "bytes"), ("rename", "reqs"))
MIDDLE = (("open", "reqs"), ("read_bytes", "bytes"), ("read_bytes", "reqs"), ("rename", "reqs"),
          ("samedir_rename", "reqs"))  # fmt: skip
NEW = (("open", "usecs"), ("read_bytes", "bytes"), ("read", "usecs"), ("rename", "usecs"),
       ("rename_trylocks", "usecs"), ("parallel_rename_dir", "usecs"))  # fmt: skip


def counted(metric, operations):
    term = term_of(find_metric(metric, operations, SHIPPED), operations)
    return term.column, dict(term.weights)


@pytest.mark.parametrize(
    ("operations", "metric", "wanted"),
    [
        (OLD, "read", ("samples", {1: 1.0})),
        (OLD, "read_bytes", ("total", {1: 1.0})),
        (OLD, "iops", ("samples", {0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0})),
        (MIDDLE, "read", ("samples", {1: 1.0, 2: 1.0})),
        (MIDDLE, "bytes", ("total", {1: 1.0, 2: 1.0})),
        (MIDDLE, "iops", ("samples", {0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0})),
        (MIDDLE, "samedir_rename", ("samples", {4: 1.0})),
        (NEW, "read", ("samples", {1: 1.0})),
        (NEW, "read_bytes", ("total", {1: 1.0})),
        (NEW, "iops", ("samples", {0: 1.0, 1: 1.0, 3: 1.0})),
        (NEW, "metadata", ("samples", {0: 2.0, 3: 6.0})),
    ],
)
def test_each_line_counts_once(operations, metric, wanted):
    assert counted(metric, operations) == wanted


def test_every_operation_is_told_by_its_own_name_and_unit():
    requests, transferred = every_operation(NEW)
    assert requests.names == {
        0: "open", 1: "read", 3: "rename", 4: "rename_trylocks", 5: "parallel_rename_dir",
    }  # fmt: skip
    assert transferred.names == {1: "read_bytes"}


def test_operations_that_take_time_are_told_once():
    assert timed_operations(NEW) == {0: "open", 2: "read", 3: "rename"}


def test_a_misspelt_operation_gets_its_neighbour():
    with pytest.raises(UsageError, match="did you mean 'read_bytes'"):
        find_metric("readbytes", NEW, SHIPPED)
    assert "write" not in names(NEW)


def test_bytes_and_requests_do_not_add_up():
    with pytest.raises(UsageError, match="cannot be added up"):
        Metric("all", {"read": 1.0, "read_bytes": 1.0})


def test_ranks_by_operation_are_of_requests_alone_and_series_tell_bytes_too():
    minute = 60 * 10**6
    with data_of(
        operations=named("open", ("read_bytes", "bytes")), frames=frames_at(0, minute),
        series=[one_series(0)],
        usage_mdt=[used(0, 0, minute, 120), used(0, 0, minute, 60, 6000, operation=1)],
    ) as opened:  # fmt: skip
        ranked = opened.top(by="operation").to_pylist()
        series = opened.series(by="operation").to_pylist()
    assert [(row["operation"], row["total"], row["share"]) for row in ranked] == [
        ("open", 120.0, pytest.approx(2 / 3)), ("read", 60.0, pytest.approx(1 / 3)),
    ]  # fmt: skip
    assert {row["operation"]: row["rate"] for row in series} == {
        "open": 2.0, "read": 1.0, "read_bytes": 100.0,
    }  # fmt: skip
