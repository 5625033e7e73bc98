"""Effective loads of a small server: who gets which part of it, what is left, and what is null."""

import pytest

from pfscope.errors import UsageError
from tests.support.query_load import damped, edge, own, row, site

TWO = [row(0, 1, 30), row(1, 1, 10)]


def by_user(result, column):
    return {r["user"]: r[column] for r in result.to_pylist()}


def empty_columns(result):
    return {reason.split()[0] for reason in result.about["why"]}


def test_equal_shares_are_of_all_requests_that_the_target_counted():
    with site(1, usage_mdt=TWO, target_totals=[own(1, 80)], server_load=damped([2.0])) as data:
        result = data.load(by="user")
    assert result.table.column_names == [
        "server", "user", "load", "load_equal", "load_service", "load_learned"
    ]  # fmt: skip
    assert by_user(result, "load") == pytest.approx({"1000": 2.0, "2000": 2.0})
    assert by_user(result, "load_equal") == pytest.approx({"1000": 0.75, "2000": 0.25})
    left = result.about["unexplained"]["mds1"]["equal"]
    assert left == pytest.approx({"load": 1.0, "share": 0.5})


def test_without_own_counts_the_shares_are_of_what_ids_tell():
    with site(1, usage_mdt=TWO, server_load=damped([2.0])) as data:
        assert by_user(data.load(by="user"), "load_equal") == pytest.approx(
            {"1000": 1.5, "2000": 0.5}
        )


def test_each_step_shares_its_own_load():
    """Who did everything while the server was idle made none of the load that came later."""
    rows = [row(0, 1, 1000), row(1, 2, 10)]
    with site(2, usage_mdt=rows, server_load=damped([0.0, 6.0])) as data:
        result = data.load(by="user")
    assert by_user(result, "load_equal") == pytest.approx({"1000": 0.0, "2000": 3.0})
    assert by_user(result, "load") == pytest.approx({"1000": 3.0, "2000": 3.0})


def test_a_load_that_is_over_is_not_in_the_window_though_linux_still_shows_it():
    rows = [row(0, step, 10) for step in (1, 2, 3)]
    shown = damped([0.0, 9.0, 0.0])
    assert shown[3]["load_1"] > 1
    with site(3, usage_mdt=rows, server_load=shown) as data:
        words = {"by": "user", "start": "2022-10-27T08:04", "end": "2022-10-27T08:06"}
        assert by_user(data.load(**words), "load") == pytest.approx({"1000": 0.0}, abs=1e-9)
        words = {"by": "user", "start": "2022-10-27T08:02", "end": "2022-10-27T08:04"}
        assert by_user(data.load(**words), "load") == pytest.approx({"1000": 9.0})


def test_an_interval_that_reaches_over_several_steps_is_spread_over_them():
    rows = [
        row(0, 1, 10), row(0, 2, 30),
        {**row(1, 2, 40), "begin": edge(0)},  # one observation of this id is missing
    ]  # fmt: skip
    with site(2, usage_mdt=rows, server_load=damped([3.0, 5.0])) as data:
        found = by_user(data.load(by="user"), "load_equal")
    first, second = 3.0 * 10 / 30 + 5.0 * 30 / 50, 3.0 * 20 / 30 + 5.0 * 20 / 50
    assert found == pytest.approx({"1000": first / 2, "2000": second / 2})


def test_service_is_the_mean_number_of_requests_being_served():
    operations = [("open", "usecs"), ("read_bytes", "bytes"), ("read", "usecs")]
    rows = [
        row(0, 1, 30, total=60_000_000),
        row(1, 1, 5, total=5 << 20, operation=1),
        row(1, 1, 5, total=12_000_000, operation=2),  # the same five reads, in microseconds
    ]
    with site(1, operations, usage_mdt=rows, server_load=damped([0.7])) as data:
        result = data.load(by="user")
    assert by_user(result, "load_service") == pytest.approx({"1000": 0.5, "2000": 0.1})
    assert by_user(result, "load_equal") == pytest.approx({"1000": 0.6, "2000": 0.1})
    assert result.about["unexplained"]["mds1"]["service"]["load"] == pytest.approx(0.1)


def test_times_of_a_few_operations_alone_are_no_estimate():
    operations = [("open", "usecs"), "close"]
    rows = [row(0, 1, 10, total=10**6), row(1, 1, 90, operation=1)]
    with site(1, operations, usage_mdt=rows, server_load=damped([1.0])) as data:
        result = data.load(by="user")
    assert by_user(result, "load_service") == {"1000": None, "2000": None}
    assert "load_service is empty on mds1: 10% of the requests" in result.about["why"][0]


def test_without_a_load_only_times_tell_anything():
    rows = [row(0, 1, 30, total=60_000_000)]
    with site(1, [("open", "usecs")], usage_mdt=rows) as data:
        result = data.load(by="user")
    (found,) = result.to_pylist()
    assert found["load_service"] == pytest.approx(0.5)
    assert (found["load"], found["load_equal"], found["load_learned"]) == (None, None, None)
    assert empty_columns(result) == {"load", "load_equal", "load_learned"}
    assert all("no load was collected" in reason for reason in result.about["why"])


def test_of_early_releases_nothing_is_known_but_requests():
    with site(1, usage_mdt=TWO) as data:
        result = data.load(by="user")
    assert [r["user"] for r in result.to_pylist()] == ["1000", "2000"]
    assert empty_columns(result) == {"load", "load_equal", "load_service", "load_learned"}


def test_a_job_has_its_user_and_each_server_its_own_first_rows():
    rows = [row(n, 1, 10 + n) for n in range(5)]
    users = [str(n) for n in range(5)]
    with site(1, users=users, usage_mdt=rows, server_load=damped([2.0])) as data:
        result = data.load(limit=2)
    found = [(r["server"], r["job"], r["user"]) for r in result.to_pylist()]
    assert found == [("mds1", "j4", "4"), ("mds1", "j3", "3")]


def test_picking_a_user_or_an_operation_changes_nobodys_share():
    operations = ("open", "close")
    rows = [*TWO, row(0, 1, 40, operation=1)]
    with site(1, operations, usage_mdt=rows, server_load=damped([2.0])) as data:
        everybody = data.load(by="user")
        one = data.load(by="user", user="2000")
        opens = data.load(by="user", operation="open")
    assert by_user(one, "load_equal") == pytest.approx({"2000": 0.25})
    assert one.about["unexplained"] == everybody.about["unexplained"]
    assert by_user(opens, "load_equal") == pytest.approx({"1000": 0.75, "2000": 0.25})


def test_what_is_learned_gives_an_expensive_request_its_part():
    """A mkdir costs ten times what a getattr does, and the server's load says so."""
    operations, count = ("getattr", "mkdir"), 60
    done = [(1000 + 37 * (step % 11), 20 + 9 * (step % 7)) for step in range(count)]
    loads = [(0.01 * cheap + 0.1 * dear) / 120 for cheap, dear in done]
    rows = [
        r
        for step, (cheap, dear) in enumerate(done, 1)
        for r in (row(0, step, cheap), row(1, step, dear, operation=1))
    ]
    with site(count, operations, usage_mdt=rows, server_load=damped(loads)) as data:
        result = data.load(by="user", costs=True)
    dear = sum(0.1 * d / 120 for _, d in done) / count
    assert by_user(result, "load_learned")["2000"] == pytest.approx(dear, rel=0.15)
    assert by_user(result, "load_equal")["2000"] < 0.3 * dear
    assert result.about["fit"]["mds1"] > 0.95
    costs = result.about["costs"]["mds1"]
    assert costs["mdt mkdir"] > 5 * costs["mdt getattr"]


def test_too_few_steps_teach_nothing():
    with site(1, usage_mdt=TWO, server_load=damped([2.0])) as data:
        result = data.load(by="user")
    assert by_user(result, "load_learned") == {"1000": None, "2000": None}
    (reason,) = [r for r in result.about["why"] if r.startswith("load_learned")]
    assert "it takes 30" in reason


def test_a_fit_window_is_a_duration():
    with site(1, usage_mdt=TWO) as data, pytest.raises(UsageError, match="duration"):
        data.load(fit_window="soon")


def test_time_in_service_can_be_ranked_as_a_metric():
    operations = [("open", "usecs"), ("read_bytes", "bytes"), ("read", "usecs")]
    rows = [
        row(0, 1, 30, total=60_000_000),
        row(1, 1, 500, total=5 << 30, operation=1),
        row(1, 1, 500, total=90_000_000, operation=2),
    ]
    with site(1, operations, usage_mdt=rows) as data:
        result = data.top(by="user", operation="service")
    found = [(r["user"], r["rate_mean"], r["total"]) for r in result.to_pylist()]
    assert found == [("2000", 0.75, 90.0), ("1000", 0.5, 60.0)]
    assert result.about["unit"] == "seconds"
