"""How sound the ids are: entries of each class in what targets showed (the thesis' figures 3, 4).

A number of entries is a state, not a flow: it is never added up over time. Without a step each read
stands for itself; with one the highest number within it, so that a short burst is still seen.
"""

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from pfscope.errors import UsageError
from pfscope.query.asked import Asked
from pfscope.query.places import PLACES, picked, placed, refuse_all_but
from pfscope.query.request import OBSERVED
from pfscope.query.tables import instant, micros, moment, table
from pfscope.query.window import EvenSteps, Steps, Window

COLUMNS = ("time", "target", "class", "system", "entries")


def quality(asked: Asked) -> pa.Table:
    """Return `time`, `target`, `class`, `system` and `entries`."""
    refuse_all_but(asked, (), (*PLACES, "class"))
    if asked.request.operation is not None or asked.request.login is not None:
        raise UsageError("quality is about entries: it takes no --operation and no --login")
    asked.notes["unit"] = "entries"
    stepped, window = asked.request.step not in (None, OBSERVED), asked.window
    if not stepped and window.start_us == asked.catalog.first_us:
        asked.window = Window(window.start_us - 1, window.end_us)  # the very first read, too

    def build(steps: Steps, _horizon_us: int | None) -> ir.Table:
        seen = _seen(asked, steps)
        if stepped and isinstance(steps, EvenSteps):
            seen = _highest(seen, steps)
        return seen.select(*COLUMNS).order_by(*COLUMNS)

    return asked.rows(build)


def _seen(asked: Asked, steps: Steps) -> ir.Table:
    rows, window = table("quality"), steps.window
    rows = rows.filter(rows.time > moment(window.start_us), rows.time <= moment(window.end_us))
    if asked.request.system is not None:
        rows = rows.filter(rows.system == asked.request.system)
    where = dict(asked.request.where)
    return picked(placed(rows) if where else rows, where)


def _highest(seen: ir.Table, steps: EvenSteps) -> ir.Table:
    step = ((micros(seen.time) - steps.origin_us - 1) // steps.step_us).cast("int64")
    end = ibis.least((step + 1) * steps.step_us + steps.origin_us, steps.window.end_us)
    grouped = seen.mutate(end=end).group_by("end", "target", "class", "system")
    highest = grouped.agg(entries=ibis._.entries.max())
    return highest.mutate(time=instant(highest.end, steps.window.start_us))
