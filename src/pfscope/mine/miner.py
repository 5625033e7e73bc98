"""The miner: a lake, an engine, and frames over the lake's tables."""

from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Any, Final, TypeVar

import ibis
import ibis.expr.types as ir

from pfscope.errors import UsageError
from pfscope.mine.engine import RAW, Engine
from pfscope.mine.engine_duckdb import DuckDBEngine
from pfscope.mine.frame import Frame, Workshop
from pfscope.mine.lake import Lake
from pfscope.mine.meaning import nearest
from pfscope.mine.own import own_function
from pfscope.mine.schema import TABLES

_Function = TypeVar("_Function", bound=Callable[..., Any])
_SPARK: Final = ("spark://", "local[", "local-cluster[", "yarn", "k8s://")


def open_lake(
    lake: str | Path, engine: str, start: str | None, end: str | None, options: Mapping[str, str]
) -> "Miner":
    """Open a lake: see `pfscope.mine.open`."""
    place = Lake(Path(lake))
    dates = _dates(place, start, end)
    if engine == "duckdb":
        return Miner(DuckDBEngine(place, dates))
    if engine != "local" and not engine.startswith(_SPARK):
        raise UsageError(
            f"there is no engine {engine!r}: take duckdb, or Spark as spark://HOST:7077, local[2] "
            "or local-cluster[2,1,1024]"
        )
    from pfscope.mine.engine_spark import SparkEngine

    return Miner(SparkEngine(place, engine, dates, options))


def _dates(lake: Lake, start: str | None, end: str | None) -> list[str] | None:
    """Return the days of a period, the last one too; None is all."""
    if start is None and end is None:
        return None
    for day in (start, end):
        try:
            date.fromisoformat(day or "2018-01-01")
        except ValueError:
            raise UsageError(f"{day!r} is no day: write 2018-01-28") from None
    days = {day for name in TABLES for day in lake.dates(name)}
    return sorted(day for day in days if (start or "") <= day <= (end or "9999"))


class Miner:
    """Gives the lake's tables as frames; close it, or use it in a `with` statement."""

    def __init__(self, engine: Engine) -> None:
        self._workshop = Workshop(engine, {})

    def load(self, *names: str) -> list[Frame]:
        """Return tables of the lake as frames, in this order.

        `slurm` has the last record of each job, so that a join multiplies nothing; `slurm_all` has
        every record.
        """
        return [self.table(name) for name in names]

    def table(self, name: str) -> Frame:
        """Return one table."""
        if name not in TABLES and name not in RAW.values():
            raise UsageError(
                f"the lake has no table {name!r}{nearest(name, [*TABLES, *RAW.values()])}"
            )
        return Frame(table_of(self._workshop.engine, name), self._workshop, name)

    def function(self, function: _Function) -> _Function:
        """Let expressions call a Python function by its name; may stand above one as `@`."""
        self._workshop.own[function.__name__] = own_function(function)
        return function

    def close(self) -> None:
        """Let go of the engine."""
        self._workshop.engine.close()

    def __enter__(self) -> "Miner":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def table_of(engine: Engine, name: str) -> ir.Table:
    """Return a table as frames show it."""
    return last_records(engine.table(RAW[name])) if name in RAW else engine.table(name)


def last_records(records: ir.Table) -> ir.Table:
    """Return the last record of each job: Slurm writes a new one when a job is queued again."""
    orders = [ibis.desc("submit", nulls_first=False), ibis.desc("start", nulls_first=False),
              ibis.desc("end", nulls_first=False), ibis.asc("log")]  # fmt: skip
    place = ibis.row_number().over(ibis.window(group_by="job_id", order_by=orders))
    return records.mutate(place=place).filter(lambda t: t.place == 0).drop("place")
