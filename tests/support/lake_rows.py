"""What a lake holds, read as any engine would: all Parquet files of a table."""

import pyarrow as pa
import pyarrow.parquet as pq

from pfscope.cli.main import main
from pfscope.mine.schema import TABLES


def table(lake, name):
    """Return all rows of a table in order of its key, with their `date`."""
    root = lake / name
    if not root.exists():
        return TABLES[name].schema.empty_table()
    rows = pq.read_table(root)
    return rows.sort_by([(column, "ascending") for column in TABLES[name].key])


def rows(lake, name, *columns):
    """Return rows as dicts, or as tuples of the columns that are named."""
    found = table(lake, name).to_pylist()
    return [tuple(row[c] for c in columns) for row in found] if columns else found


def content(lake, without=("imports",)):
    """Return all that a lake says, for comparison: every table but those named."""
    return {name: table(lake, name) for name in TABLES if name not in without}


def without_log(rows_of_lake: pa.Table):
    return rows_of_lake.drop_columns("log")


def imports(kind, *arguments, lake, style="csv"):
    """Run `pfscope logs import` and return its exit code."""
    words = ["logs", "import", kind, *map(str, arguments), "--lake", str(lake), "--format", style]
    return main(words)
