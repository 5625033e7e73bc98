"""Retention: what is older goes for good, whole days at a time, and the ledger says that it did."""

from dataclasses import fields

import pytest

from pfscope.errors import UsageError
from pfscope.store.embedded import open_store
from pfscope.store.housekeeping import Rules
from pfscope.store.retention import Removed, Retention
from pfscope.store.schema import TIMED
from tests.support.store_rows import DAY, at, frames, series, usage


def rules(**days):
    return Rules(settle_us=0, quiet_us=0, merge_after_us=1, retention=Retention(**days))


def days_of(store, table="usage_ost"):
    rows = store.query(f"SELECT DISTINCT epoch_us(time) // 86400000000 AS d FROM {table}")
    return sorted(day - DAY for day in rows.column("d").to_pylist())


def test_days_older_than_their_table_may_keep_are_deleted(tmp_path):
    with open_store(tmp_path, rules=rules(usage_ost=3, frames=1)) as store:
        for day in range(6):
            store.commit({"usage_ost": usage(at(day, 1)), "frames": frames(0, time_us=at(day))}, [])
        removed = store.expire(at(6))
        assert removed == [Removed("usage_ost", DAY + d, 1) for d in range(3)] + [
            Removed("frames", DAY + d, 1) for d in range(5)
        ]
        assert days_of(store) == [3, 4, 5]
        assert days_of(store, "frames") == [5]
        store.maintain(at(6))
        assert store.expire(at(7)) == [
            Removed("usage_ost", DAY + 3, 1),
            Removed("frames", DAY + 5, 1),
        ]
        assert days_of(store) == [4, 5]
        assert not list(tmp_path.glob("parquet/usage_ost/day=2022-10-30"))
        assert store.expire(at(7)) == []


def test_the_ledger_says_that_something_was_dropped(tmp_path):
    with open_store(tmp_path, rules=rules(usage_ost=1)) as store:
        store.commit({"usage_ost": usage(at())}, [])
        store.maintain(at(5))
        (line,) = store.ledger().to_pylist()
        assert (line["outcome"], line["reason"], line["frames"]) == ("dropped", "retention", 0)


def test_without_a_rule_everything_stays(tmp_path):
    with open_store(tmp_path, rules=rules()) as store:
        store.commit({"usage_ost": usage(at())}, [])
        store.maintain(at(5000))
        assert days_of(store) == [0]


def test_series_stay_as_long_as_their_usage_and_system_users_for_ever(tmp_path):
    with open_store(tmp_path, rules=rules(usage_ost=2, usage_mdt=2)) as store:
        store.commit({"series": series(0, 1), "usage_ost": usage(at(0, 1), series=0)}, [])
        store.commit({"series": series(2, system=True)}, [])
        store.commit({"usage_ost": usage(at(0, 2), at(5, 2), series=1)}, [])
        store.commit({"series": series(3, first_seen=at(5))}, [])
        store.maintain(at(1))
        assert [p.table for p in store.parts()] == ["series", "usage_ost"]
        store.maintain(at(6))
        left = store.query("SELECT series FROM series ORDER BY series").column("series").to_pylist()
        assert left == [1, 2, 3]
        store.maintain(at(20))
        left = store.query("SELECT series FROM series ORDER BY series").column("series").to_pylist()
        assert left == [2]
        assert store.next_series() == 4, "a number is never given twice"


def test_every_table_that_grows_has_a_rule():
    assert tuple(field.name for field in fields(Retention)) == TIMED


def test_a_rule_that_makes_no_sense_is_refused():
    with pytest.raises(UsageError, match="retention of frames: 0 days"):
        Retention(frames=0)
