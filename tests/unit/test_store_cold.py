"""Finished days move to Parquet: nobody sees a difference, and only the days asked for are read."""

import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pfscope.store.embedded import open_store
from pfscope.store.housekeeping import Rules
from tests.support.store_rows import at, frames, operations, series, usage, whole_batch

EAGER = Rules(settle_us=0, quiet_us=0, merge_after_us=1)


def parts(store, table="usage_ost"):
    return [(p.day - at() // 86_400_000_000, p.rows) for p in store.parts() if p.table == table]


def times(store):
    return store.query("SELECT time FROM usage_ost ORDER BY time").column("time").to_pylist()


def files(root, table="usage_ost"):
    return sorted(str(p.relative_to(root)) for p in root.glob(f"parquet/{table}/**/*.parquet"))


@pytest.fixture
def three_days(tmp_path):
    """A store whose first two days are cold."""
    with open_store(tmp_path, rules=EAGER) as store:
        store.commit({**whole_batch(), "frames": frames(0)}, [])
        store.commit({"usage_ost": usage(*(at(d, h) for d in range(3) for h in range(2, 23)))}, [])
        store.maintain(at(2, 23))
        yield store


def test_finished_days_lie_in_parquet_and_show_as_before(tmp_path, three_days):
    assert parts(three_days) == [(0, 22), (1, 21)]
    assert files(tmp_path) == [
        "parquet/usage_ost/day=2022-10-27/part-00000001.parquet",
        "parquet/usage_ost/day=2022-10-28/part-00000002.parquet",
    ]
    assert len(times(three_days)) == 64
    assert three_days.query("SELECT count(*) AS n FROM hot.usage_ost").column("n")[0].as_py() == 21


def test_a_part_is_sorted_and_of_plain_types(tmp_path):
    with open_store(tmp_path, rules=EAGER) as store:
        for operation, number in ((1, 0), (0, 1), (0, 0)):
            rows = usage(at(hour=2), at(hour=1), series=number, operation=operation)
            store.commit({"usage_ost": rows}, [])
        store.maintain(at(2))
        (path,) = files(tmp_path)
        found = pq.read_table(tmp_path / path, partitioning=None)
    assert found.select(["operation", "series"]).to_pylist() == [
        {"operation": o, "series": s} for o, s in ((0, 0), (0, 0), (0, 1), (0, 1), (1, 0), (1, 0))
    ]
    assert found.schema.field("time").type == pa.timestamp("us", "UTC")
    assert not any(pa.types.is_unsigned_integer(f.type) for f in found.schema)


@pytest.mark.parametrize("form", ["literal", "parameters"])
def test_a_day_in_a_query_reads_no_other_day(three_days, form):
    sql = "EXPLAIN ANALYZE SELECT sum(total) FROM usage_ost WHERE time >= {} AND time < {}"
    begin, end = "TIMESTAMPTZ '2022-10-28 00:00Z'", "TIMESTAMPTZ '2022-10-29 00:00Z'"
    if form == "literal":
        plan = three_days.query(sql.format(begin, end))
    else:
        made = ("make_timestamptz(?)",) * 2
        plan = three_days.query(sql.format(*made), [at(1), at(2)])
    text = plan.column("explain_value")[0].as_py()
    assert re.findall(r"Total Files Read: (\d+)", text) == ["1"]
    assert text.count("READ_PARQUET") == 1


def test_days_of_long_ago_are_told_apart_by_month(tmp_path):
    with open_store(tmp_path, rules=EAGER) as store:
        days = range(0, 120, 7)
        store.commit({"usage_ost": usage(*(at(d, 12) for d in days))}, [])
        store.maintain(at(200))
        assert len(times(store)) == len(days)
        for day in days:
            found = store.query(
                "SELECT time FROM usage_ost WHERE time BETWEEN make_timestamptz(?) AND "
                "make_timestamptz(?)", [at(day), at(day, 23)],
            )  # fmt: skip
            assert found.num_rows == 1


def test_a_day_waits_until_nothing_comes_for_it(tmp_path):
    rules = Rules(settle_us=3_600_000_000, quiet_us=600_000_000)
    with open_store(tmp_path, rules=rules) as store:
        store.commit({"usage_ost": usage(at(hour=5))}, [])
        store.maintain(at(0, 23))
        store.maintain(at(1, 0, 59))
        assert parts(store) == []
        store.commit({"usage_ost": usage(at(hour=6))}, [])
        store.maintain(at(1, 1, 5))
        assert parts(store) == []
        store.maintain(at(1, 1, 15))
        assert parts(store) == [(0, 2)]


def test_late_rows_become_a_further_part_and_then_one(tmp_path, three_days):
    three_days.commit({"usage_ost": usage(at(0, 1, 30))}, [])
    assert len(times(three_days)) == 65
    three_days.maintain(at(2, 23))
    assert parts(three_days) == [(0, 22), (0, 1), (1, 21)]
    three_days.maintain(at(2, 23) + 1)
    assert sorted(parts(three_days)) == [(0, 23), (1, 21)]
    assert len(files(tmp_path)) == 2
    assert len(times(three_days)) == len(set(times(three_days))) == 65


def test_a_file_lives_as_long_as_somebody_reads_it(tmp_path, three_days):
    three_days.commit({"usage_ost": usage(at(0, 1, 30))}, [])
    with three_days.stream("SELECT time FROM usage_ost", rows=1) as rows:
        rows.read_next_batch()
        three_days.maintain(at(2, 23))
        three_days.maintain(at(2, 23) + 1)
        assert len(files(tmp_path)) == 4
        assert 1 + sum(batch.num_rows for batch in rows) == 65
    assert len(files(tmp_path)) == 2


def test_numbers_and_frames_are_known_when_they_are_cold(tmp_path):
    with open_store(tmp_path, rules=EAGER) as store:
        store.commit({"series": series(0, 1, 2), "frames": frames(5)}, [])
        store.maintain(at(3))
        assert parts(store, "series") == [(0, 3)]
        assert store.next_series() == 3
        assert store.has_frame("oss1", "e", 5)
    with open_store(tmp_path) as store:
        assert store.next_series() == 3
        assert store.has_frame("oss1", "e", 5)
        assert not store.has_frame("oss1", "e", 6)


def test_the_tree_can_be_read_without_the_database(tmp_path):
    with open_store(tmp_path, rules=EAGER) as store:
        store.commit({**whole_batch(), "operations": operations("read", "write")}, [])
        store.maintain(at(2))
    names = pq.read_table(tmp_path / "parquet" / "operations").column("name").to_pylist()
    rows = pq.read_table(tmp_path / "parquet" / "usage_ost").to_pylist()
    who = pq.read_table(tmp_path / "parquet" / "series").to_pylist()
    assert names == ["read", "write"]
    assert [(r["series"], str(r["day"])) for r in rows] == [(0, "2022-10-27")]
    assert [s["entry_id"] for s in who] == ["0:1000:r01c01"]


def test_a_store_can_be_moved(tmp_path):
    with open_store(tmp_path / "it's, here", rules=EAGER) as store:
        store.commit(whole_batch(), [])
        store.maintain(at(2))
    (tmp_path / "it's, here").rename(tmp_path / "there")
    with open_store(tmp_path / "there") as store:
        assert len(times(store)) == 1
    with open_store(tmp_path / "x" / ".." / "there", read_only=True) as store:
        assert len(times(store)) == 1


def test_a_lost_part_does_not_keep_the_store_shut(tmp_path, three_days):
    three_days.close()
    (tmp_path / files(tmp_path)[0]).unlink()
    with open_store(tmp_path) as store:
        assert len(times(store)) == 42
