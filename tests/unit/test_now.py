"""Now: rates of the last observation, in every measure, of whoever fits."""

import pytest

from pfscope.errors import InputError, UsageError
from pfscope.now.now import Now
from pfscope.now.recent import Recent, recorded
from pfscope.now.wish import Wish
from pfscope.query.asked import Site
from pfscope.query.metrics import SHIPPED
from tests.support.query_store import ROWS, T0, T1, T2
from tests.support.query_tables import MemoryStore, frames_at, named, one_series, used
from tests.support.store_rows import MINUTE_US, table

SECOND_US = 10**6


def now_of(**rows):
    return Now(MemoryStore(rows), Site(SHIPPED))


def asked(now, **words):
    listed = {name: value if isinstance(value, list) else [value] for name, value in words.items()}
    return now.document(Wish.read(listed))


def rows_of(answer, *columns):
    places = [answer["columns"].index(name) for name in columns]
    return [tuple(row[place] for place in places) for row in answer["rows"]]


def placed(target="scratch-MDT0000", server="mds1", *times_us):
    return [
        {"time": t, "target": target, "server": server, "class": "sound", "system": False,
         "entries": 1}
        for t in times_us
    ]  # fmt: skip


def test_the_rates_are_those_of_the_last_observation():
    answer = asked(now_of(**ROWS), sort="open")
    assert answer["about"]["time_us"] == T2
    assert rows_of(answer, "user", "open", "iops", "metadata") == [("1001", 2, 2, 4)]


def test_a_past_moment_is_answered_as_it_was():
    answer = asked(now_of(**ROWS), at="-2m", sort="open")
    assert answer["about"]["time_us"] == T1
    assert rows_of(answer, "user", "open", "bytes") == [
        ("1001", 1, 0), ("1002", 0.5, 10**6), ("0", 0.1, 0),
    ]  # fmt: skip
    assert answer["sums"][answer["columns"].index("open") - 1] == 1.6


def test_and_a_longer_stretch_is_a_mean():
    answer = asked(now_of(**ROWS), over="4m", sort="open")
    assert rows_of(answer, "user", "open")[:2] == [("1001", 1.5), ("1002", 0.25)]


def test_groups_and_patterns_are_those_of_questions():
    answer = asked(now_of(**ROWS), by="server,node", at="-2m", user=["100*", "!1001"], sort="bytes")
    assert rows_of(answer, "server", "node", "open", "read_bytes") == [
        ("oss1", "r01c02", 0, 10**6), ("mds1", "r01c02", 0.5, 0),
    ]  # fmt: skip
    assert rows_of(asked(now_of(**ROWS), at="-2m", system="yes"), "user") == [("0",)]
    assert rows_of(asked(now_of(**ROWS), at="-2m", user="1002..2000"), "user") == [("1002",)]


def test_a_limit_leaves_the_sums_whole():
    answer = asked(now_of(**ROWS), at="-2m", sort="open", limit="1")
    assert (len(answer["rows"]), answer["all_rows"]) == (1, 3)
    assert answer["sums"][answer["columns"].index("open") - 1] == 1.6


def test_chosen_columns_are_told_alone():
    answer = asked(now_of(**ROWS), at="-2m", sort="open", columns="bytes")
    assert answer["columns"] == ["user", "bytes", "open"]
    assert rows_of(answer, "user", "bytes")[1] == ("1002", 10**6)
    assert [set(server["rates"]) for server in answer["servers"]] == [{"bytes", "open"}] * 2
    assert [set(target["rates"]) for target in answer["targets"]] == [{"bytes", "open"}] * 2


def test_the_largest_parts_of_each_server_are_told():
    answer = asked(now_of(**ROWS), at="-2m", sort="iops", columns="iops", parts="2", limit="1")
    parts = {server["server"]: server["parts"] for server in answer["servers"]}
    assert parts["mds1"] == [["1001", 1], ["1002", 0.5]]
    assert [name for name, _ in parts["oss1"]] == ["1002"]
    assert "parts" not in asked(now_of(**ROWS), at="-2m")["servers"][0]


@pytest.mark.parametrize(
    "words", [{"by": "usr"}, {"by": "operation"}, {"sort": "nothing"}, {"columns": "nothing"},
              {"over": "1h"}, {"from": "-1h"}, {"limit": "many"}]
)  # fmt: skip
def test_what_makes_no_sense_is_refused(words):
    with pytest.raises(UsageError):
        asked(now_of(**ROWS), **words)


def test_a_store_without_observations_says_so():
    with pytest.raises(InputError, match="nothing was observed"):
        asked(now_of())


def test_to_sort_by_what_nobody_does_is_no_mistake():
    answer = asked(now_of(**ROWS), sort="read_bytes")
    assert rows_of(answer, "user", "read_bytes") == [("1001", 0)]


LOADED = {
    "operations": named("open", "close"),
    "series": [one_series(0, user="1", node="a"), one_series(1, user="2", node="b")],
    "usage_mdt": [used(0, T0, T1, 90), used(1, T0, T1, 30)],
    "frames": frames_at(T0, T1, server="mds1"),
    "quality": placed("scratch-MDT0000", "mds1", T1),
    "server_load": [
        {"time": T0, "server": "mds1", "load_1": 8.0},
        {"time": T1, "server": "mds1", "load_1": 8.0},
    ],
    "target_totals": [
        {"time": T1, "begin": T0, "server": "mds1", "target": "scratch-MDT0000", "operation": 0,
         "samples": 160, "total": 0, "sumsq": 0.0},
    ],
}  # fmt: skip


def test_load_is_shared_by_requests_and_what_no_id_is_told_for_stays_nobodys():
    answer = asked(now_of(**LOADED))
    assert rows_of(answer, "user", "load") == [("1", 4.5), ("2", 1.5)]
    (server,) = answer["servers"]
    assert (server["load"], server["load_told"], server["estimate"]) == (8, 6, "equal")
    assert server["unattributed"]["iops"] == 0.25
    assert answer["targets"][0]["unattributed"]["metadata"] == 0.25


def test_load_is_the_time_that_requests_took_where_they_tell_it():
    timed = {**LOADED, "operations": named(("open", "usecs"), "close"),
             "usage_mdt": [used(0, T0, T1, 90, total=240 * SECOND_US),
                           used(1, T0, T1, 30, total=12 * SECOND_US)]}  # fmt: skip
    answer = asked(now_of(**timed))
    assert answer["servers"][0]["estimate"] == "service"
    assert rows_of(answer, "user", "load") == [("1", 2), ("2", 0.1)]


def test_without_any_load_the_column_is_empty_and_requests_decide():
    answer = asked(now_of(**ROWS), at="-2m")
    assert rows_of(answer, "user", "load")[0] == ("1001", None)


def test_the_load_that_stands_is_undamped():
    risen = {**LOADED, "server_load": [
        {"time": T1 - MINUTE_US, "server": "mds1", "load_1": 0.0},
        {"time": T1, "server": "mds1", "load_1": 6.321},
    ]}  # fmt: skip
    assert asked(now_of(**risen))["servers"][0]["load"] == pytest.approx(10, rel=1e-3)


def test_a_server_that_went_silent_has_no_rates():
    rows = {**LOADED, "frames": [*frames_at(T0, T1, server="mds1"),
                                 *frames_at(T1 + 7 * MINUTE_US, server="oss1")]}  # fmt: skip
    answer = asked(now_of(**rows))
    assert [(s["server"], s["silent"]) for s in answer["servers"]] == [
        ("mds1", True), ("oss1", False),
    ]  # fmt: skip
    assert answer["rows"] == []


def test_a_target_that_moved_counts_where_it_is():
    both = [frame for name in ("mds1", "mds2") for frame in frames_at(T0, T1, server=name)]
    moved = [*placed("scratch-MDT0000", "mds1", T0), *placed("scratch-MDT0000", "mds2", T1)]
    rows = {**LOADED, "frames": both, "quality": moved, "target_totals": []}
    assert rows_of(asked(now_of(**rows), by="server"), "server", "iops") == [("mds2", 1)]


def test_what_is_committed_is_seen_at_once_and_the_past_is_let_go():
    store = MemoryStore({**ROWS, "usage_mdt": [], "frames": []})
    recent = Recent()
    now = Now(store, Site(SHIPPED), recent)
    calls = []
    recent.tell(lambda: calls.append(recent.version))
    tables = {name: table(name, ROWS[name]) for name in ("usage_mdt", "frames", "quality")}
    recent.take(tables)
    assert rows_of(asked(now), "user", "open") == [("1001", 2)]
    later = T2 + 11 * MINUTE_US
    recent.take({"frames": table("frames", frames_at(later, server="mds1"))})
    assert asked(now)["rows"] == []
    assert calls == [1, 2]


def test_a_store_fills_what_is_recent():
    tables = recorded(MemoryStore(ROWS))
    assert tables["usage_mdt"].num_rows == 4
    assert recorded(MemoryStore({}))["frames"].num_rows == 0
