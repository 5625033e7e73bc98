"""Rows are inserted by position, so a table's columns stand as in the schema, however old it is."""

from pathlib import Path

import duckdb
import pytest

from pfscope.store.embedded import open_store
from pfscope.store.layout import DAILY
from pfscope.store.schema import TABLES
from tests.support.store_rows import at, frames

OLD = Path(__file__).resolve().parents[1] / "data" / "store-v0.sql"


@pytest.mark.parametrize("old", [False, True])
def test_tables_have_the_order_of_the_schema(tmp_path, old):
    if old:
        (tmp_path / "parquet" / "frames" / "day=2022-10-27").mkdir(parents=True)
        with duckdb.connect(tmp_path / "store.duckdb") as database:
            database.execute(OLD.read_text().replace("{directory}", str(tmp_path)))
    open_store(tmp_path).close()
    with duckdb.connect(tmp_path / "store.duckdb") as database:
        for name, schema in TABLES.items():
            table = f"hot.{name}" if name in DAILY else name
            table = "ledger_changes" if name == "ledger" else table
            columns = database.execute(f"DESCRIBE {table}").fetchall()
            assert [column[0] for column in columns] == schema.names, name


def test_a_batch_may_have_its_columns_in_any_order(tmp_path):
    rows = frames(7, time_us=at())
    with open_store(tmp_path) as store:
        store.commit({"frames": rows.select(sorted(rows.column_names))}, [])
        kept = store.query("SELECT * FROM frames").select(rows.column_names)
        assert kept.to_pylist() == rows.to_pylist()
