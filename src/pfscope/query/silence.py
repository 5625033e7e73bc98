"""How long servers were not heard of: the time since the last frame of each, the longest first.

A server that is read shows itself though nobody uses it. One of which nothing came in the whole
period is not told of: it may be gone for good.
"""

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from pfscope.errors import UsageError
from pfscope.query.asked import Asked
from pfscope.query.places import picked, placed, refuse_all_but, refuse_people
from pfscope.query.tables import micros, moment, table
from pfscope.query.window import Steps, Window

KEYS = ("filesystem", "server")


def silence(asked: Asked) -> pa.Table:
    """Return the keys, `last` and `silent_s`, which counts until the end of the period."""
    refuse_all_but(asked, KEYS, KEYS)
    refuse_people(asked)
    if asked.request.operation is not None:
        raise UsageError("silence is of servers, whatever they do: it takes no --operation")
    asked.notes["unit"] = "seconds"
    keys = list(asked.by)

    def build(steps: Steps, _horizon_us: int | None) -> ir.Table:
        window = steps.window
        heard = picked(_heard(window), dict(asked.request.where))
        found = heard.group_by(keys).agg(last=ibis._.time.max())
        silent = ibis.literal(window.end_us) - micros(found.last)
        found = found.mutate(silent_s=silent.cast("float64") / 1e6)
        return found.order_by(ibis.desc("silent_s"), *keys)

    return asked.rows(build)


def _heard(window: Window) -> ir.Table:
    """Return when each server was heard of, and for which file systems it works."""
    since, until = moment(window.start_us), moment(window.end_us)

    def within(name: str) -> ir.Table:
        rows = table(name)
        return rows.filter(rows.time > since, rows.time <= until)

    last = within("frames").group_by("server").agg(time=ibis._.time.max())
    shown = [placed(within(name)).select("server", "filesystem")
             for name in ("quality", "target_totals")]  # fmt: skip
    return last.left_join(ibis.union(*shown, distinct=True), "server")[
        ["server", "time", "filesystem"]
    ]
