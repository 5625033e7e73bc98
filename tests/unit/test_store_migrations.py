"""A store of an older pfscope opens as one of today, with all that was in it."""

from pathlib import Path

import duckdb
import pytest

from pfscope.errors import InputError
from pfscope.store.embedded import open_store
from pfscope.store.housekeeping import Rules
from pfscope.store.schema import VERSION
from tests.support.store_rows import at, frames

OLD = Path(__file__).resolve().parents[1] / "data" / "store-v0.sql"


@pytest.fixture
def old_store(tmp_path):
    (tmp_path / "parquet" / "frames" / "day=2022-10-27").mkdir(parents=True)
    with duckdb.connect(tmp_path / "store.duckdb") as database:
        database.execute(OLD.read_text().replace("{directory}", str(tmp_path)))
    return tmp_path


def steps(store):
    found = store.query("SELECT sequence, clock_step_us FROM frames ORDER BY sequence")
    return list(zip(*(c.to_pylist() for c in found.columns), strict=True))


def test_an_old_store_is_brought_up_to_date(old_store):
    for _ in range(2):
        with open_store(old_store) as store:
            assert steps(store) == [(1, None), (2, None)]
            assert store.query("SELECT samples FROM usage_ost").column(0).to_pylist() == [3]
            assert store.has_frame("oss1", "e", 1)
            assert store.query("SELECT server, entries FROM quality").to_pylist() == [
                {"server": None, "entries": 4}
            ]
            assert store.query("SELECT * FROM jobs").num_rows == 0
    with duckdb.connect(old_store / "store.duckdb") as database:
        assert database.execute("SELECT version FROM store").fetchall() == [(VERSION,)]


def test_old_and_new_parts_of_a_day_become_one(old_store):
    with open_store(old_store, rules=Rules(settle_us=0, quiet_us=0, merge_after_us=1)) as store:
        late = frames(3, time_us=at())
        step = [[7]] if late.schema.field("clock_step_us") else None
        store.commit({"frames": late.set_column(10, late.schema.field("clock_step_us"), step)}, [])
        far = 10**16
        store.maintain(far)
        store.maintain(far + 1)
        assert [(p.rows, p.version) for p in store.parts() if p.table == "frames"] == [
            (2, VERSION), (1, VERSION),
        ]  # fmt: skip
        assert steps(store) == [(1, None), (2, None), (3, 7)]


def test_an_old_store_is_not_changed_by_a_reader(old_store):
    with pytest.raises(InputError, match="open it once for writing"):
        open_store(old_store, read_only=True)


def test_a_later_store_is_refused(tmp_path):
    open_store(tmp_path).close()
    with duckdb.connect(tmp_path / "store.duckdb") as database:
        database.execute(f"UPDATE store SET version = {VERSION + 1}")
    with pytest.raises(InputError, match="later pfscope"):
        open_store(tmp_path)
