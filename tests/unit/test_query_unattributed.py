"""What no id is told for: only where, and while, a target's own counts are known."""

import pytest

from pfscope.errors import UsageError
from tests.support.query_tables import data_of, frames_at, named, one_series, used
from tests.support.store_rows import at, moment

MDT, OST = "scratch-MDT0000", "scratch-OST0000"
OPEN, BYTES, PING, CREATE, MDT_BYTES = range(5)
OPERATIONS = named("open", ("read_bytes", "bytes"), "ping", "create", ("read_bytes", "reqs"))
MINUTES = range(0, 60, 10)


def counted(target, begin_us, time_us, samples, total=0, operation=OPEN, server="mds1"):
    return {
        "server": server, "target": target, "begin": begin_us, "time": time_us, "sumsq": 0.0,
        "operation": operation, "samples": samples, "total": total,
    }  # fmt: skip


def site(totals, mdt=(), ost=(), away=()):
    series = [one_series(0, MDT, user="1000"), one_series(1, OST, user="1000")]
    series.append(one_series(2, MDT))
    placed = [
        {"time": at(minute=m), "target": t, "server": s, "class": "sound", "entries": 1}
        for m in (*MINUTES, 60)
        for t, s in ((MDT, "mds2" if m in away else "mds1"), (OST, "oss1"))
    ]
    return data_of(
        target_totals=totals, usage_mdt=mdt, usage_ost=ost, series=series, operations=OPERATIONS,
        quality=placed, frames=frames_at(*(at(minute=m) for m in (*MINUTES, 60))),
    )  # fmt: skip


def ten_minutes(make, *given, minutes=MINUTES, **more):
    return [make(*given[:1], at(minute=m), at(minute=m + 10), *given[1:], **more) for m in minutes]


def test_the_rest_of_what_a_target_counted_is_nobodys():
    totals = ten_minutes(counted, MDT, 100)
    rows = ten_minutes(used, 0, 60) + ten_minutes(used, 2, 15)
    with site(totals, rows) as opened:
        (row,) = opened.unattributed(operation="open").to_pylist()
    assert row == {
        "target": MDT, "total": pytest.approx(600), "attributed": pytest.approx(450),
        "unattributed": pytest.approx(150), "share": pytest.approx(0.25),
    }  # fmt: skip


def test_usage_counts_only_while_the_target_told_its_own_counts():
    known = [*MINUTES][1:3]
    totals = ten_minutes(counted, MDT, 100, minutes=known)
    totals += [counted(MDT, at(minute=45), at(minute=50), 50)]
    with site(totals, ten_minutes(used, 0, 80) + ten_minutes(used, 1, 5)) as opened:
        (row,) = opened.unattributed(operation="open").to_pylist()
    assert (row["total"], row["attributed"]) == (pytest.approx(250), pytest.approx(200))


def test_an_interval_that_a_target_told_twice_is_compared_once():
    totals = ten_minutes(counted, MDT, 100)
    totals.append(counted(MDT, at(), at(minute=40), 7, server="mds2"))
    with site(totals, ten_minutes(used, 0, 80)) as opened:
        (row,) = opened.unattributed(operation="open").to_pylist()
    assert (row["total"], row["attributed"]) == (pytest.approx(607), pytest.approx(480))


def test_a_target_that_was_away_is_not_compared_with_what_its_server_saw_after():
    totals = [
        *ten_minutes(counted, MDT, 100, minutes=(0, 50)),
        counted(MDT, at(minute=30), at(minute=40), 100, server="mds2"),
        counted(MDT, at(minute=10), at(minute=50), 100),
    ]
    with site(totals, ten_minutes(used, 0, 80), away=(20, 30, 40)) as opened:
        (row,) = opened.unattributed(operation="open").to_pylist()
    assert (row["total"], row["attributed"]) == (pytest.approx(300), pytest.approx(240))


def test_steps_keep_both_sides_at_the_same_time():
    totals = [counted(MDT, at(), at(minute=40), 400), counted(MDT, at(minute=40), at(hour=1), 100)]
    with site(totals, ten_minutes(used, 0, 5)) as opened:
        rows = opened.unattributed(operation="open", over_time=True, step="30m").to_pylist()
    assert [(r["time"], r["total"], r["attributed"]) for r in rows] == [
        (moment(at(minute=30)), pytest.approx(300), pytest.approx(15)),
        (moment(at(hour=1)), pytest.approx(200), pytest.approx(15)),
    ]


def test_operations_are_compared_by_what_they_count():
    """Bytes with bytes, whichever unit a line has; what no id could tell is left out."""
    totals = [
        counted(OST, at(), at(hour=1), 10, 1000, BYTES, "oss1"),
        counted(OST, at(), at(hour=1), 99, 0, PING, "oss1"),
        counted(OST, at(), at(hour=1), 4, 0, CREATE, "oss1"),
        counted(MDT, at(), at(hour=1), 2, 50, MDT_BYTES),
    ]
    mdt = [used(0, at(), at(hour=1), 1, 20, operation=MDT_BYTES)]
    ost = [used(1, at(), at(hour=1), 8, 900, operation=BYTES)]
    with site(totals, mdt, ost) as opened:
        rows = opened.unattributed(by=("server", "operation")).to_pylist()
        (all_bytes,) = opened.unattributed(by="filesystem", operation="bytes").to_pylist()
    found = {
        (r["server"], r["operation"]): (round(r["total"]), round(r["attributed"])) for r in rows
    }
    assert found == {
        ("mds1", "read"): (2, 1), ("mds1", "read_bytes"): (50, 20), ("oss1", "create"): (4, 0),
        ("oss1", "read"): (10, 8), ("oss1", "read_bytes"): (1000, 900),
    }  # fmt: skip
    assert all_bytes["share"] == pytest.approx(130 / 1050)


def test_one_target_is_picked():
    totals = ten_minutes(counted, MDT, 100) + ten_minutes(counted, OST, 7, server="oss1")
    with site(totals, ten_minutes(used, 0, 60)) as opened:
        assert [r["target"] for r in opened.unattributed(kind="ost").to_pylist()] == [OST]
        assert [r["target"] for r in opened.unattributed(server="mds*").to_pylist()] == [MDT]


@pytest.mark.parametrize(
    ("words", "said"),
    [({"by": "user"}, "not by user"), ({"job": "7"}, "any job"), ({"system": False}, "--system")],
)
def test_people_are_not_asked_for(words, said):
    with site([]) as opened, pytest.raises(UsageError, match=said):
        opened.unattributed(**words)


def test_time_is_cut_at_the_window():
    totals = [counted(MDT, at(), at(hour=1), 600)]
    with site(totals, [used(0, at(), at(hour=1), 300)]) as opened:
        (row,) = opened.unattributed(operation="open", start="2022-10-27T00:45").to_pylist()
    assert (row["total"], row["attributed"]) == (pytest.approx(150), pytest.approx(75))
