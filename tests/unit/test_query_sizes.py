"""Sizes of requests: means from sums, extremes as far as known, quantiles where there are bins."""

import pytest

from pfscope.errors import UsageError
from tests.support.query_tables import data_of, frames_at, named, one_series, used
from tests.support.store_rows import MINUTE_US, at

READ, WRITE, TIMED, OPEN = range(4)
OPERATIONS = named(("read_bytes", "bytes"), ("write_bytes", "bytes"), ("read", "usecs"), "open")
KIB = 1024
SERIES = [one_series(n, "scratch-OST0000", job=job) for n, job in enumerate(("7", "7", "8", None))]


def row(series, minute, samples, total, operation=READ, low=None, high=None):
    begin = at(minute=minute)
    return used(
        series, begin, begin + 2 * MINUTE_US, samples, total, operation, minimum=low, maximum=high
    )


def bins(series, minute, operation=READ, **counts):
    return [
        {
            "time": at(minute=minute + 2), "series": series, "operation": operation,
            "bound": int(size[1:]) * KIB, "count": count,
        }
        for size, count in counts.items()
    ]  # fmt: skip


def site(*rows, histograms=()):
    return data_of(
        usage_ost=rows, histograms=histograms, series=SERIES, operations=OPERATIONS,
        frames=frames_at(*(at(minute=m) for m in range(0, 21, 2))),
    )  # fmt: skip


def test_requests_are_summed_by_job_and_operation():
    rows = [
        row(0, 0, 3, 12 * KIB, low=2 * KIB), row(1, 4, 1, 4 * KIB, low=4 * KIB, high=4 * KIB),
        row(0, 2, 5, 5 * KIB, WRITE), row(2, 0, 1, 1024 * KIB), row(3, 0, 2, 64 * KIB),
        row(0, 0, 3, 999, TIMED), row(0, 0, 70, 0, OPEN),
    ]  # fmt: skip
    with site(*rows) as opened:
        answer = opened.sizes()
    unknown = {"p50_size": None, "p90_size": None, "minimum": None, "maximum": None}
    seven = {
        "job": "7", "operation": "read", "requests": 4, "bytes": 16 * KIB, "mean_size": 4.0 * KIB,
        **unknown, "minimum": 2 * KIB, "maximum": 4 * KIB,
    }  # fmt: skip
    assert answer.to_pylist() == [
        {**unknown, "job": "8", "operation": "read", "requests": 1, "bytes": 1024 * KIB,
         "mean_size": 1024.0 * KIB},
        {**unknown, "job": None, "operation": "read", "requests": 2, "bytes": 64 * KIB,
         "mean_size": 32.0 * KIB},
        seven,
        {**unknown, "job": "7", "operation": "write", "requests": 5, "bytes": 5 * KIB,
         "mean_size": 1.0 * KIB},
    ]  # fmt: skip
    assert answer.about["unit"] == "bytes"


def test_quantiles_are_the_bins_in_which_they_lie():
    bounds = bins(0, 0, s4=5, s64=3) + bins(1, 2, s4=1, s1024=1) + bins(3, 0, s8=1)
    rows = [row(0, 0, 8, 100 * KIB), row(1, 2, 2, 900 * KIB), row(3, 0, 1, 5 * KIB)]
    with site(*rows, row(2, 0, 1, 9), histograms=bounds) as opened:
        found = {r["job"]: (r["p50_size"], r["p90_size"]) for r in opened.sizes().to_pylist()}
    assert found == {
        "7": (4 * KIB, 64 * KIB), None: (8 * KIB, 8 * KIB), "8": (None, None),
    }  # fmt: skip


def test_the_histogram_itself():
    bounds = bins(0, 0, s4=5, s64=3) + bins(1, 2, s4=1) + bins(0, 0, WRITE, s8=2)
    with site(row(0, 0, 8, 8), row(1, 2, 1, 1), histograms=bounds) as opened:
        rows = opened.sizes(histogram=True, operation="read").to_pylist()
    assert rows == [
        {"job": "7", "operation": "read", "bound": 4 * KIB, "count": 6},
        {"job": "7", "operation": "read", "bound": 64 * KIB, "count": 3},
    ]


def test_a_row_belongs_to_the_period_in_which_it_ends():
    rows = [row(0, m, 1, KIB) for m in range(0, 20, 2)]
    bounds = [one for m in range(0, 20, 2) for one in bins(0, m, s1=1)]
    words = {"start": "2022-10-27T00:05", "end": "2022-10-27T00:11"}
    with site(*rows, histograms=bounds) as opened:
        assert opened.sizes(**words).to_pylist()[0]["requests"] == 3
        assert opened.sizes(**words, histogram=True).to_pylist()[0]["count"] == 3


@pytest.mark.parametrize(("operation", "found"), [
    ("read", ["read"]), ("write_bytes", ["write"]), ("bytes", ["read", "write"]),
])  # fmt: skip
def test_reads_or_writes_alone(operation, found):
    with site(row(0, 0, 1, 2 * KIB), row(0, 0, 1, KIB, WRITE)) as opened:
        answer = opened.sizes(operation=operation).to_pylist()
    assert [r["operation"] for r in answer] == found


@pytest.mark.parametrize(
    ("words", "said"),
    [({"operation": "open"}, "only reads and writes"), ({"by": "operation"}, "leave it out"),
     ({"server": "oss1"}, "by target")],
)  # fmt: skip
def test_what_has_no_size_is_refused(words, said):
    with site(row(0, 0, 1, KIB)) as opened, pytest.raises(UsageError, match=said):
        opened.sizes(**words)
