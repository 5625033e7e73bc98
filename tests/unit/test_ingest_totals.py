"""What targets count themselves: increments, restarts, and what a damaged text may say."""

import pytest

from pfscope.ingest.totals import Totals
from pfscope.lustre.stats import parse_stats

KEY = "oss1", "fs-OST0000"


def stats(*lines):
    return parse_stats(b"".join(b"%s\n" % line for line in lines))


def line(name, samples, total=0):
    return b"%s %d samples [bytes] 1 9 %d %d" % (name, samples, total, total)


def after(first, second):
    """Return ({name: (samples, total)}, restarted) of the second read."""
    totals = Totals()
    assert totals.take(KEY, 100, stats(*first)) == (None, False)
    counted, restarted = totals.take(KEY, 200, stats(*second))
    columns = counted.samples.tolist(), counted.total.tolist()
    names = [name for name, _ in counted.operations]
    assert counted.begin_us == 100
    return dict(zip(names, zip(*columns, strict=True), strict=True)), restarted


@pytest.mark.parametrize(
    ("first", "second", "expected", "restarted"),
    [
        ([(b"read", 5, 50)], [(b"read", 7, 90)], {"read": (2, 40)}, False),
        ([(b"read", 5, 50)], [(b"read", 5, 50)], {}, False),
        ([(b"read", 5, 50)], [(b"write", 3, 9), (b"read", 6, 60)],
         {"write": (3, 9), "read": (1, 10)}, False),
        ([(b"read", 5, 50), (b"write", 3, 9)], [(b"read", 2, 20), (b"write", 4, 9)],
         {"read": (2, 20), "write": (4, 9)}, True),
        ([(b"read", 5, 50), (b"write", 3, 9)], [(b"read", 9, 90)], {"read": (9, 90)}, True),
        ([(b"statfs", 5, 0), (b"statfs", 2, 0)], [(b"statfs", 5, 0), (b"statfs", 4, 0)],
         {"statfs": (2, 0)}, False),
        ([(b"read", 5, 50)], [(b"read", 6, 40)], {"read": (1, 0)}, False),
        ([(b"read", 5, 50)], [(b"read", 6, 2**64 - 1)], {"read": (1, 2**63 - 1)}, False),
    ],
    ids=["grown", "idle", "a new one", "a fall", "one is gone", "a name twice", "a damaged sum",
         "more than a store holds"],
)  # fmt: skip
def test_increments(first, second, expected, restarted):
    assert after([line(*x) for x in first], [line(*x) for x in second]) == (expected, restarted)


def test_late_totals_say_nothing():
    totals = Totals()
    totals.take(KEY, 200, stats(line(b"read", 5)))
    assert totals.take(KEY, 100, stats(line(b"read", 3))) == (None, False)
    counted, _ = totals.take(KEY, 300, stats(line(b"read", 6)))
    assert counted.samples.tolist() == [1]
