"""How long requests took: means and deviations that are right, or not told at all."""

import pytest

from tests.support.query_load import edge, row, site

TIMED = [("open", "usecs"), ("read_bytes", "bytes"), ("read", "usecs")]


def one(data, **words):
    (found,) = data.latency(**{"by": "user", **words}).to_pylist()
    return found


def test_mean_and_deviation_are_those_of_all_requests():
    times = [100, 100, 400]
    rows = [
        row(0, 1, 2, total=200, sumsq=20_000.0, minimum=100, maximum=100),
        row(0, 2, 1, total=400, sumsq=160_000.0, maximum=400),
    ]
    with site(2, TIMED, usage_mdt=rows) as data:
        found = one(data)
    mean = sum(times) / 3
    deviation = (sum((t - mean) ** 2 for t in times) / 3) ** 0.5
    assert found == {
        "user": "1000", "operation": "open", "requests": pytest.approx(3),
        "mean_us": pytest.approx(mean), "deviation_us": pytest.approx(deviation),
        "minimum_us": 100, "maximum_us": 400,
    }  # fmt: skip


def test_bytes_are_no_times():
    rows = [row(0, 1, 2, total=8192, operation=1), row(0, 1, 2, total=900, operation=2)]
    with site(1, TIMED, usage_mdt=rows) as data:
        found = one(data)
    assert (found["operation"], found["requests"], found["mean_us"]) == ("read", 2, 450)


@pytest.mark.parametrize("sumsq", [0.0, 1e3, 2.0**63])
def test_a_wrapped_sum_of_squares_is_not_believed(sumsq):
    """Its low 64 bits say less than the mean alone makes necessary."""
    long = 4_000_000_000  # more than an hour, twice: its square is beyond 64 bits
    rows = [row(0, 1, 2, total=2 * long, sumsq=sumsq), row(0, 2, 2, total=10, sumsq=50.0)]
    with site(2, TIMED, usage_mdt=rows) as data:
        found = one(data)
    assert found["mean_us"] == pytest.approx((2 * long + 10) / 4)
    assert found["deviation_us"] is None


def test_equal_times_have_no_deviation_whatever_the_rounding():
    rows = [row(0, 1, 3, total=3 * 333_333, sumsq=3.0 * 333_333**2 * (1 - 1e-12))]
    with site(1, TIMED, usage_mdt=rows) as data:
        assert one(data)["deviation_us"] == pytest.approx(0.0, abs=1.0)


def test_extremes_are_told_if_every_series_has_told_them():
    rows = [
        row(0, 1, 1, total=5, sumsq=25.0, minimum=5, maximum=5),
        row(1, 1, 1, total=7, sumsq=49.0, maximum=7),
    ]
    with site(1, TIMED, usage_mdt=rows) as data:
        found = one(data, by="operation")
    assert (found["minimum_us"], found["maximum_us"]) == (None, 7)


def test_an_interval_that_is_half_in_the_window_counts_half():
    rows = [row(0, 1, 10, total=1000, sumsq=1e5), row(0, 2, 10, total=3000, sumsq=9e5)]
    with site(2, TIMED, usage_mdt=rows) as data:
        found = one(data, start="2022-10-27T08:01", end="2022-10-27T08:04")
    assert edge(0) % (60 * 10**6) == 0
    assert found["requests"] == pytest.approx(15)
    assert found["mean_us"] == pytest.approx(3500 / 15)


def test_what_took_most_time_comes_first():
    rows = [row(0, 1, 100, total=1000), row(1, 1, 1, total=50_000, operation=2)]
    with site(1, TIMED, usage_mdt=rows) as data:
        found = data.latency().to_pylist()
        assert [(r["job"], r["operation"]) for r in found] == [("j1", "read"), ("j0", "open")]
        assert len(data.latency(limit=1)) == 1
        assert [r["operation"] for r in data.latency(operation="open").to_pylist()] == ["open"]


def test_early_releases_tell_no_times():
    with site(1, ("open",), usage_mdt=[row(0, 1, 5)]) as data:
        result = data.latency()
    assert len(result) == 0
    assert "2.14" in result.about["why"]
