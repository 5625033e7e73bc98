"""By whom: patterns, ranges, login nodes, the scheduler's keys, servers that targets move to."""

import fnmatch

import pytest

from pfscope.errors import UsageError
from tests.support.query_tables import data_of, frames_at, named, one_series, used

MINUTE = 60 * 10**6
NODES = ("r01c01", "r01c02", "r02c01", "puhti-login11", "a.b", "a*b", "a[b", "x]y", "^r", None)


def data(series, rows=None, **more):
    rows = rows or [used(s["series"], 0, MINUTE, 60) for s in series]
    defaults = {"operations": named("open"), "frames": frames_at(0, MINUTE)}
    return data_of(series=series, usage_mdt=rows, **{**defaults, **more})


def nodes_that_fit(*patterns):
    with data([one_series(n, node=node) for n, node in enumerate(NODES)]) as opened:
        rows = opened.top(by="node", operation="open", node=patterns).to_pylist()
    return {row["node"] for row in rows}


@pytest.mark.parametrize(
    "pattern",
    ["r01c01", "r01*", "*", "r0[12]c01", "r0[!1]*", "?.b", "a.b", "a[*]b", "a[[]b", "x[]]y", "^*",
     "*login*", "[^r]*", "r01c0[1-2]"],
)  # fmt: skip
def test_globs_pick_what_the_shell_would(pattern):
    wanted = {n for n in NODES if n is not None and fnmatch.fnmatchcase(n, pattern)}
    assert nodes_that_fit(pattern) == wanted


def test_patterns_add_up_and_exclude():
    assert nodes_that_fit("r01*", "a.b") == {"r01c01", "r01c02", "a.b"}
    assert nodes_that_fit("r*", "!r01*") == {"r02c01"}
    assert nodes_that_fit("!r*") == {*NODES} - {"r01c01", "r01c02", "r02c01"}


def test_ranges_are_numbers_where_both_ends_are():
    series = [one_series(n, user=user) for n, user in enumerate(["9", "10", "100", "root", None])]
    with data(series) as opened:
        numbers = opened.top(by="user", operation="open", user="9..50").to_pylist()
        names = opened.top(by="user", operation="open", user="q..s").to_pylist()
    assert {row["user"] for row in numbers} == {"9", "10"}
    assert {row["user"] for row in names} == {"root"}


def test_system_users_and_login_nodes_can_be_left_out():
    series = [
        one_series(0, user="0", node="r01c01", system=True),
        one_series(1, user="1000", node="r01c01", job="5"),
        one_series(2, user="1000", executable="wget"),
        one_series(3, user="1000", node="puhti-login11"),
        one_series(4, entry_id="?"),
    ]
    with data(series, login_nodes=("*login*",)) as opened:

        def series_of(**words):
            rows = opened.top(by=("user", "node", "executable"), operation="open", **words)
            return {(r["user"], r["node"], r["executable"]) for r in rows.to_pylist()}

        assert series_of(system=True) == {("0", "r01c01", None)}
        assert series_of(login=True) == {
            ("1000", None, "wget"), ("1000", "puhti-login11", None),
        }  # fmt: skip
        assert series_of(login=False, system=False) == {
            ("1000", "r01c01", None), (None, None, None),
        }  # fmt: skip


def test_projects_are_those_that_the_scheduler_told_last():
    jobs = [
        {"job": "5", "project": "old", "partition": "test", "recorded": 1, "submit": 0},
        {"job": "5", "project": "new", "partition": "test", "recorded": 2, "submit": 0},
        {"job": "6", "project": "other", "partition": "gpu", "recorded": 1, "submit": 0},
    ]
    series = [one_series(0, job="5"), one_series(1, job="6"), one_series(2, user="1000")]
    with data(series, jobs=jobs) as opened:
        found = opened.top(by=("project", "partition"), operation="open").to_pylist()
        of_gpu = opened.top(by="job", operation="open", partition="gpu").to_pylist()
    assert {(r["project"], r["partition"]) for r in found} == {
        ("new", "test"), ("other", "gpu"), (None, None),
    }  # fmt: skip
    assert [row["job"] for row in of_gpu] == ["6"]


def test_usage_belongs_to_the_server_that_the_target_was_on():
    target = "scratch-OST0000"
    reads = [(1, "oss1"), (2, "oss1"), (3, "oss2"), (4, "oss2"), (5, "oss1")]
    quality = [
        {"time": n * MINUTE, "target": target, "class": "sound", "entries": 1, "server": server}
        for n, server in reads
    ]
    rows = [used(0, (n - 1) * MINUTE, n * MINUTE, 60 * 10**n) for n, _ in reads]
    with data_of(
        series=[one_series(0, target)], usage_ost=rows, quality=quality,
        operations=named("punch"), frames=frames_at(*(n * MINUTE for n in range(6))),
    ) as opened:  # fmt: skip
        found = opened.series(by="server", operation="punch", step="60").to_pylist()
        of_oss2 = opened.top(by="target", operation="punch", server="oss2").to_pylist()
    assert [(row["server"], row["rate"]) for row in found] == [
        (server, 10.0**n) for n, server in reads
    ]
    assert of_oss2[0]["total"] == 60 * (10**3 + 10**4)


@pytest.mark.parametrize(("by", "hint"), [("usr", "'user'"), (("user", "user"), "twice")])
def test_what_cannot_be_grouped_by_is_told(by, hint):
    with data([one_series(0)]) as opened, pytest.raises(UsageError, match=hint):
        opened.top(by=by)
