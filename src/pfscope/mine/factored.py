"""The factors of runs that a frame names, by way of Arrow: see `pfscope.mine.factors`."""

import ibis.expr.types as ir
import pyarrow as pa

from pfscope.mine.engine import Engine


def perf_factors(
    engine: Engine, runs: ir.Table, low: float, high: float, operation: str
) -> pa.Table:
    """Return the factors of runs whose bandwidth is within bounds, in bytes per second."""
    raise NotImplementedError
