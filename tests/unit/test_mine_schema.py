"""The lake's schema: one declaration, told in the documentation, in types that every engine has."""

from pathlib import Path

import pyarrow as pa
import pytest

from pfscope.mine.schema import TABLES
from pfscope.mine.schema_darshan import COUNTERS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "lake.md"
PLAIN = (
    pa.int64(), pa.int32(), pa.float64(), pa.string(), pa.bool_(), pa.binary(),
    pa.timestamp("us", "UTC"),
)  # fmt: skip


@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_every_column_is_documented(table):
    counters = {counter.column for counter in COUNTERS}
    page = PAGE.read_text()
    section = page.partition(f"\n## `{table.name}`\n")[2].partition("\n## ")[0]
    for column in table.columns:
        if column.name in counters:
            assert f"`{column.name}`" in page
        else:
            assert f"| `{column.name}` | {column.type} | {column.meaning} |" in section


@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_a_table_is_sound(table):
    names = [column.name for column in table.columns]
    assert len(set(names)) == len(names)
    assert set(table.key) <= set(names)
    assert table.when is None or table.when in names
    assert "date" not in names
    assert all(column.type in PLAIN for column in table.columns)
