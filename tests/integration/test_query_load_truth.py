"""Estimates of effective load beside what a simulated site knows: which is nearer."""

import pytest

from benchmarks.load_error import STORM, errors, made


@pytest.fixture(scope="module", params=["2.12", "2.15"])
def dialect(request):
    return request.param


@pytest.fixture(scope="module")
def site(dialect, tmp_path_factory):
    """Some hours of a day, with a storm on the metadata server."""
    return made(tmp_path_factory.mktemp(f"load-{dialect}"), dialect, 4, 7, STORM)


@pytest.mark.parametrize("servers", ["", "oss"], ids=["all servers", "object storage"])
def test_time_and_learning_are_nearer_than_equal_shares(site, dialect, servers):
    found, _ = errors(*site, servers)
    assert found["load_learned"] < found["load_equal"]
    if dialect == "2.12":
        assert found["load_service"] is None
    else:
        assert found["load_service"] < found["load_equal"]
        assert found["load_service"] < 0.05
