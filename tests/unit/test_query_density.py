"""Buckets of the density at their very edges (C9), and who is in one."""

import pytest

from pfscope.errors import UsageError
from tests.support.query_tables import data_of, frames_at, named, one_series, used

MINUTE = 60 * 10**6


def data(rates):
    """One user for each rate per second, over one minute."""
    return data_of(
        operations=named("open"),
        series=[one_series(n, user=str(1000 + n)) for n in range(len(rates))],
        usage_mdt=[used(n, 0, MINUTE, round(60 * rate)) for n, rate in enumerate(rates)],
        frames=frames_at(0, MINUTE),
    )


@pytest.mark.parametrize("power", range(7))
def test_a_power_of_the_base_opens_its_bucket(power):
    with data([10**power]) as opened:
        assert opened.density(operation="open").to_pylist()[0]["bucket_low"] == 10.0**power


def test_rates_below_one_have_buckets_too():
    with data([0.05, 0.5, 0.9, 1.0]) as opened:
        found = opened.density(operation="open").to_pylist()
    assert [(row["bucket_low"], row["count"]) for row in found] == [
        (pytest.approx(0.01), 1), (pytest.approx(0.1), 2), (1.0, 1),
    ]  # fmt: skip


def test_the_members_of_a_bucket_are_listed_on_demand():
    with data([5, 50, 99, 100]) as opened:
        found = opened.density(operation="open", bucket=70).to_pylist()
    assert [(row["user"], row["rate"]) for row in found] == [("1001", 50.0), ("1002", 99.0)]


def test_a_base_of_one_is_refused():
    with data([1]) as opened, pytest.raises(UsageError, match="base"):
        opened.density(operation="open", base=1)
