"""Mining of application logs: the lake of Parquet tables, and what is asked of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pfscope.mine.aggregates import ost_count, ost_union

if TYPE_CHECKING:
    from pfscope.mine.miner import Miner

__all__ = ["open", "ost_count", "ost_union"]


def open(  # noqa: A001 - as `tarfile.open`
    lake: str | Path,
    engine: str = "duckdb",
    *,
    start: str | None = None,
    end: str | None = None,
    options: Mapping[str, str] | None = None,
) -> "Miner":
    """Return a miner of a lake, on DuckDB here or on Spark.

    `engine` is `duckdb`, or where Spark runs: `spark://host:7077`, `local-cluster[2,1,1024]`,
    `local[2]`; `options` are settings of Spark. `start` and `end` are the first and the last day
    that are looked at.
    """
    from pfscope.mine.miner import open_lake

    return open_lake(lake, engine, start, end, options or {})
