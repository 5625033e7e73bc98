"""What a store holds, as far as questions need to know it before they are put."""

from dataclasses import dataclass

import ibis.expr.types as ir
import pyarrow.compute as pc

from pfscope.query.engine import Engine
from pfscope.query.tables import micros, moment, table
from pfscope.query.window import EvenSteps, GivenSteps, Steps, Window

POINTS = 1500
"""A figure shows no more; without a wish for a step it becomes as long as that needs."""
_FACTORS = (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 5760, 11520)
_GONE_US = 6 * 3600 * 10**6
"""A series that was not seen for longer begins anew, with an interval of its own."""
_COMMON_US = 60 * 10**6


@dataclass(frozen=True, slots=True)
class Catalog:
    """The operations, by number, and the times of the first and the last observation."""

    operations: tuple[tuple[str, str], ...]
    first_us: int | None
    last_us: int | None

    @staticmethod
    def read(engine: Engine) -> "Catalog":
        """Ask a store."""
        operations = engine.run_prepared("operations", _operations, _ANY, None)
        names, units = (operations.column(name).to_pylist() for name in ("name", "unit"))
        ends = engine.run_prepared("ends", _ends, _ANY, None).to_pylist()[0]
        return Catalog(tuple(zip(names, units, strict=True)), ends["first"], ends["last"])


_ANY = EvenSteps(Window(0, 1), 1, 0)


def _operations(_steps: Steps, _horizon_us: int | None) -> ir.Table:
    return table("operations").order_by("operation")


def _ends(_steps: Steps, _horizon_us: int | None) -> ir.Table:
    frames = table("frames")
    known = frames.filter(frames.state == "stored")
    return known.agg(first=micros(known.time.min()), last=micros(known.time.max()))


def usual_steps(engine: Engine, window: Window) -> EvenSteps:
    """Return the steps in which the servers were observed, or longer ones for a long window."""
    whole = EvenSteps(window, window.length_us, window.start_us)
    found = engine.run_prepared("usual steps", _gaps, whole, None).to_pylist()[0]
    interval = _rounded(int(found["gap"] or _COMMON_US))
    wanted = (f * interval for f in _FACTORS if window.length_us <= f * interval * POINTS)
    step = next(wanted, interval * _FACTORS[-1])
    return EvenSteps.over(window, step, (found["first"] or 0) if step == interval else 0)


def _gaps(steps: Steps, _horizon_us: int | None) -> ir.Table:
    """Return the usual time between two frames of a server, and the first time of any."""
    frames, window = table("frames"), steps.window
    during = (frames.time > moment(window.start_us)) & (frames.time <= moment(window.end_us))
    times = frames.filter(during, frames.state == "stored").select("server", "time")
    before = times.time.lag().over(group_by=times.server, order_by=times.time)
    gaps = times.select(gap=micros(times.time) - micros(before), time=micros(times.time))
    return gaps.agg(gap=gaps.gap.median(), first=gaps.time.min())


def observed_steps(engine: Engine, window: Window) -> GivenSteps:
    """Return every time at which any server was observed, as the edges of steps."""
    frames = table("frames")
    during = (frames.time > moment(window.start_us)) & (frames.time < moment(window.end_us))
    found = engine.run(frames.filter(during).select(time=micros(frames.time)).distinct())
    inner = sorted(found.column("time").to_pylist())
    return GivenSteps((window.start_us, *inner, window.end_us))


def horizon(engine: Engine, window: Window, catalog: Catalog) -> int | None:
    """Return the latest end that a row which reaches into the window can have, if it is known."""
    if catalog.last_us is None or window.end_us >= catalog.last_us:
        return None
    until = EvenSteps(window, window.length_us, window.start_us)
    ends = engine.run_prepared("horizon", _next_seen, until, None).column("end")
    return (pc.max(ends).as_py() or window.end_us) + _GONE_US


def _next_seen(steps: Steps, _horizon_us: int | None) -> ir.Table:
    """Return when each target was seen first after a window."""
    seen = table("quality")
    later = seen.filter(seen.time > moment(steps.window.end_us))
    next_seen = later.group_by("target").agg(time=later.time.min())
    return next_seen.select(end=micros(next_seen.time))


def _rounded(interval_us: int) -> int:
    """Return an interval to the second, as agents keep their time only nearly."""
    return max(round(interval_us / 1e6), 1) * 10**6 if interval_us > 500_000 else interval_us
