"""A server of which load, requests and owners are known, as rows of the store's tables."""

from math import exp

from tests.support.query_tables import data_of, frames_at, named, one_series, used
from tests.support.store_rows import MINUTE_US, at

STEP_US = 2 * MINUTE_US
START_US = at(hour=8)


def edge(step):
    """Return the end of a step, in microseconds; step 0 ends where observations begin."""
    return START_US + step * STEP_US


def damped(loads, server="mds1", first=None):
    """Return what Linux shows at the end of each step of an even load."""
    value = loads[0] if first is None else first
    rows = [{"server": server, "time": edge(0), "load_1": value}]
    kept = exp(-STEP_US / MINUTE_US)
    for step, load in enumerate(loads, 1):
        value = kept * value + (1 - kept) * load
        rows.append({"server": server, "time": edge(step), "load_1": value})
    return rows


def row(series, step, samples, **more):
    """Return a row of usage over one step."""
    return used(series, edge(step - 1), edge(step), samples, **more)


def own(step, samples, operation=0, server="mds1", target="scratch-MDT0000", total=0):
    """Return what a target counted itself in a step."""
    return {
        "server": server, "target": target, "operation": operation, "begin": edge(step - 1),
        "time": edge(step), "samples": samples, "total": total, "sumsq": 0.0,
    }  # fmt: skip


def site(steps, operations=("open",), users=("1000", "2000"), **rows):
    """Return `Data` of one metadata server; the series are the users' jobs, by number."""
    seen = [
        {"time": edge(s), "target": "scratch-MDT0000", "class": "sound", "system": False,
         "entries": 1, "server": "mds1"}
        for s in range(steps + 1)
    ]  # fmt: skip
    series = [one_series(n, user=user, job=f"j{n}") for n, user in enumerate(users)]
    frames = frames_at(*map(edge, range(steps + 1)), server="mds1")
    return data_of(
        frames=frames, quality=seen, series=series, operations=named(*operations), **rows
    )
