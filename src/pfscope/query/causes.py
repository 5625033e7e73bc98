"""Who is behind an increase: an interval against its own past, member by member.

What all members gained adds up to what the whole gained, exactly: the answer is the fewest of them
that make up a given part of it, those who gained most.
"""

from dataclasses import replace
from typing import Any

import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pfscope.errors import UsageError
from pfscope.query.asked import Asked
from pfscope.query.catalog import horizon
from pfscope.query.past import Usual, blocks_of, past_of, usual
from pfscope.query.rates import rates_of
from pfscope.query.window import EvenSteps, Steps
from pfscope.times import iso, time_us

INTERVAL_US = 3600 * 10**6
"""The interval where none is named: the newest hour."""
FEW = 5
"""Not more than so many are few in any company; a tenth of all is few in a large one."""

Rates = NDArray[np.float64]


def causes(asked: Asked) -> pa.Table:
    """Return `rank`, the keys, `baseline`, `peak`, `increase` and `share`, all rates per second."""
    if not 0 < asked.option("explain") <= 1:
        raise UsageError("--explain is a part of the increase: above 0 and up to 1, such as 0.8")
    _settle(asked)
    during = asked.rows(lambda steps, horizon_us: _during(asked, steps, horizon_us))
    before, normal = _before(asked, past_of(asked))
    members = _members(asked, before, during, normal)
    asked.notes["total"] = _total(members, during, normal)
    asked.notes["density"] = _density(members)
    return _explaining(asked, members)


def _settle(asked: Asked) -> None:
    """Decide on an interval where the request names no beginning."""
    words, first, last = asked.request, asked.catalog.first_us, asked.catalog.last_us
    if words.start is not None or first is None or last is None:
        return
    end = last if words.end is None else min(time_us(words.end, now_us=last, end=True), last)
    if first < end:
        start = max(end - INTERVAL_US, (first + end) // 2)
        asked.request = replace(words, start=iso(start))


def _during(asked: Asked, steps: Steps, horizon_us: int | None) -> ir.Table:
    """Return what each member did in the interval, its highest rate, and the highest of all."""
    found = rates_of(asked, steps, horizon_us)
    found = found.mutate(total=found.rate.sum().over(group_by="time"))
    return found.group_by(list(asked.by)).agg(
        during=found.increment.sum(), peak=found.rate.max(), total_peak=found.total.max()
    )


def _before(asked: Asked, past: EvenSteps) -> tuple[pa.Table, Usual]:
    """Return what each member did in the usual blocks of the past."""

    def build(steps: Steps, horizon_us: int | None) -> ir.Table:
        return rates_of(asked, steps, horizon_us).select("time", *asked.by, "increment")

    key = "causes before", asked.request_key, asked.catalog.operations
    until = horizon(asked.engine, past.window, asked.catalog)
    found = asked.engine.run_prepared(key, build, past, until)
    block = blocks_of(found["time"], past)
    normal = usual(block, found["increment"].to_numpy(), past)
    asked.notes["baseline_from_us"] = past.window.start_us
    asked.notes["baseline_to_us"] = past.window.end_us
    return found.filter(pa.array(normal.kept[block])), normal


def _members(asked: Asked, before: pa.Table, during: pa.Table, normal: Usual) -> pa.Table:
    """Return the keys, `baseline`, `mean`, `peak` and `increase` of all, the largest first."""
    by = list(asked.by)
    past = _with(before.select(by), before=before["increment"], during=None, peak=None)
    now = _with(during.select(by), before=None, during=during["during"], peak=during["peak"])
    sums = [("before", "sum"), ("during", "sum"), ("peak", "max")]
    found = pa.concat_tables([past, now]).group_by(by, use_threads=False).aggregate(sums)
    baseline = found["before_sum"].to_numpy() / normal.seconds
    mean = found["during_sum"].to_numpy() / (asked.window.length_us / 1e6)
    peak = found["peak_max"].to_numpy()
    rates = {"baseline": baseline, "mean": mean, "peak": peak, "increase": mean - baseline}
    order = [("increase", "descending"), *((key, "ascending") for key in by)]
    return _with(found.select(by), **rates).sort_by(order)


def _with(keys: pa.Table, **columns: Any) -> pa.Table:
    """Add columns of numbers; None is zero."""
    for name, values in columns.items():
        numbers = np.zeros(len(keys)) if values is None else np.asarray(values)
        keys = keys.append_column(name, pa.array(numbers))
    return keys


def _total(members: pa.Table, during: pa.Table, normal: Usual) -> dict[str, float | None]:
    """Return how the whole changed; `highest_before` is that of any block of the past."""
    baseline, mean = (float(members[name].to_numpy().sum()) for name in ("baseline", "mean"))
    return {
        "baseline": baseline,
        "highest_before": float(normal.totals.max()),
        "mean": mean,
        "peak": pc.max(during["total_peak"]).as_py() or 0.0,
        "ratio": mean / baseline if baseline > 0 else None,
    }


def _density(members: pa.Table) -> list[dict[str, Any]]:
    """Count members by the power of ten of their mean rate, before and during."""
    powers = {}
    for name in ("baseline", "mean"):
        rates = members[name].to_numpy()
        exponents = np.floor(np.log10(rates[rates > 0])).astype(int)
        powers[name] = dict(zip(*np.unique(exponents, return_counts=True), strict=True))
    return [
        {
            "bucket_low": 10.0 ** int(power),
            "bucket_high": 10.0 ** (int(power) + 1),
            "before": int(powers["baseline"].get(power, 0)),
            "during": int(powers["mean"].get(power, 0)),
        }
        for power in sorted({*powers["baseline"], *powers["mean"]})
    ]


def _explaining(asked: Asked, members: pa.Table) -> pa.Table:
    """Return the fewest that explain the wanted part of the increase."""
    increase: Rates = members["increase"].to_numpy()
    net = float(increase.sum())
    if net <= 1e-9 * asked.notes["total"]["mean"]:
        asked.notes["named"] = {"verdict": "none", "members": 0}
        asked.notes["empty"] = "the total did not increase"
        return _ranked(asked, members.slice(0, 0), 1.0)
    gained = increase[increase > 0]
    enough = int(np.searchsorted(np.cumsum(gained), asked.option("explain") * net)) + 1
    chosen = gained[:enough]
    active = int((members["mean"].to_numpy() > 0).sum())
    verdict, part = _verdict(chosen, active), float(chosen.sum() / gained.sum())
    asked.notes["named"] = {
        "verdict": verdict,
        "members": len(chosen),
        "active": active,
        "effective": effective_number(chosen),
        "explained": part,
    }
    are = "few large ones" if verdict == "few" else "many small ones"
    asked.notes["note"] = f"{are}: {len(chosen)} of {active} make up {part:.0%} of the increase"
    named = members.slice(0, min(len(chosen), asked.option("limit")))
    return _ranked(asked, named, float(gained.sum()))


def effective_number(values: Rates) -> float:
    """Return how many equal values would be as concentrated: the inverse sum of squared shares.

    >>> effective_number(np.array([5.0, 5.0])), effective_number(np.array([98.0, 1.0, 1.0])) < 1.1
    (2.0, True)
    """
    return float(values.sum() ** 2 / (values**2).sum())


def _verdict(chosen: Rates, active: int) -> str:
    """Tell whether it is few large ones or many small ones."""
    few = max(1.0, min(FEW, active / 2), active / 10)
    return "few" if effective_number(chosen) <= few else "many"


def _ranked(asked: Asked, members: pa.Table, gained: float) -> pa.Table:
    """Return the answer; a share is of all that rose, as others may have fallen meanwhile."""
    share = pa.array(members["increase"].to_numpy() / gained)
    ranked = members.append_column("share", share)
    ranked = ranked.append_column("rank", pa.array(np.arange(1, len(members) + 1)))
    return ranked.select(["rank", *asked.by, "baseline", "peak", "increase", "share"])
