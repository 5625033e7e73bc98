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
