"""The factors of runs that a frame names: see `pfscope.mine.factors_low`."""

import ibis.expr.types as ir
import pyarrow as pa

from pfscope.mine.engine import Engine
from pfscope.mine.factors_low import Search, low
from pfscope.mine.factors_rules import rules
from pfscope.mine.sources import Tables


def perf_factors(
    engine: Engine, runs: ir.Table, above: float, below: float, operation: str
) -> pa.Table:
    """Return the factors of runs whose bandwidth is within bounds, in bytes per second."""
    return low(Tables(engine), rules(operation), Search(below=below, above=above), runs)
