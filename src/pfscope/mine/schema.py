"""The tables of the lake, declared once: names, keys, columns, Arrow types and what they mean.

A table is a directory of Parquet files by day, `lake/TABLE/date=YYYY-MM-DD/*.parquet`; `date` is
the day (UTC) of the row's `start`, or of its `time`, and stands in the path alone. Every table can
be empty, and then is absent. Types are those that DuckDB, Spark and Arrow all have: a record id of
64 bits is a signed number, a set of OSTs is a bitmap in bytes. Columns that bear the name of one of
Darshan's counters in lower case hold that counter, summed over ranks unless it is an extreme; a
counter that was not monitored is null, never -1.
"""

from typing import Final, NamedTuple

import pyarrow as pa

from pfscope.mine import schema_darshan as darshan
from pfscope.mine import schema_others as others
from pfscope.mine.schema_parts import TIME, Column, Columns

__all__ = ["DATE", "TABLES", "TIME", "Column", "Columns", "Table", "table_schema"]

DATE: Final = "date"
"""The key of a partition, in the path: `date=2018-01-28`."""


class Table(NamedTuple):
    """What a table of the lake holds."""

    name: str
    about: str
    """What one row is."""
    key: tuple[str, ...]
    """The columns that name a row; rows of a partition file are in this order."""
    when: str | None
    """The column whose day is the partition; None: the table is not parted by day."""
    columns: Columns

    @property
    def schema(self) -> pa.Schema:
        """The columns of its files."""
        return pa.schema([(column.name, column.type) for column in self.columns])


_TABLES: Final = (
    Table("darshan_job", "a log: one run of a program", ("job_id", "log"), "start", darshan.JOB),
    Table(
        "darshan_file", "a file that a run opened", ("job_id", "log", "file_id"), "start",
        darshan.FILE,
    ),
    Table(
        "darshan_rank", "what one rank did to a file that several ranks used, where the log has it",
        ("job_id", "log", "file_id", "rank"), "start", darshan.RANK,
    ),
    Table(
        "darshan_object", "a dataset of HDF5 or a variable of PnetCDF in a file, or a DAOS object",
        ("job_id", "log", "module", "object_id"), "start", darshan.OBJECT,
    ),
    Table(
        "darshan_dxt", "one read or write, traced by DXT",
        ("job_id", "log", "file_id", "rank", "start_s"), "start", darshan.DXT,
    ),
    Table(
        "darshan_heatmap", "bytes of a rank in a span of time, where there were any",
        ("job_id", "log", "module", "rank", "start_s"), "start", darshan.HEATMAP,
    ),
    Table(
        "slurm", "a record of a job in Slurm's accounting", ("job_id", "submit"), "start",
        others.SLURM,
    ),
    Table(
        "slurm_step", "a step of a job", ("job_id", "step", "start"), "start",
        others.SLURM_STEP,
    ),
    Table(
        "lmt", "a target in a step of time", ("filesystem", "target", "time"), "time",
        others.LMT,
    ),
    Table(
        "imports", "a file that was given to an import, read or not", ("log",), None,
        others.IMPORTS,
    ),
)  # fmt: skip
TABLES: Final = {table.name: table for table in _TABLES}
"""All tables, by name."""


def table_schema(name: str) -> pa.Schema:
    """Return the Arrow schema of a table's files.

    >>> table_schema("lmt").field("ost").type
    DataType(int32)
    """
    return TABLES[name].schema
