"""What an incident did to others, how sound the data was meanwhile, and how it ended: in words."""

from datetime import timedelta
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from pfscope.query.data import Data
from pfscope.query.key_names import exactly
from pfscope.watch.culprits import MINUTE_US, span
from pfscope.watch.grouping import Group
from pfscope.watch.model import Cause

Effects = tuple[tuple[str, str], ...]
BEFORE: Final = timedelta(hours=1)
"""What others had then is what an incident is held against."""
_SOUND: Final = "sound"


def effects(data: Data, group: Group, main: Cause | None, until_us: int) -> Effects:
    """Return what there is to say, by what it is about.

    In the minute in which it was found nothing: whom it concerns should not wait for it.
    """
    if until_us - min(change.found_us for change in group.changes) < MINUTE_US:
        return ()
    told = {
        "others": None if group.of_data else _others(data, group, main, until_us),
        "data": _soundness(data, group, until_us),
        "ending": _ending(group),
    }
    return tuple((about, words) for about, words in told.items() if words)


def _others(data: Data, group: Group, main: Cause | None, until_us: int) -> str | None:
    """Return how long requests of others took, where servers tell it, and before."""
    during = {"by": "kind", "limit": 1000, **_where(group), **span(group, until_us)}
    if main and main.user:
        during["user"] = f"!{exactly(main.user)}"
    before = during | {"start": during["start"] - BEFORE, "end": during["start"]}
    now_us, then_us = (_mean_us(data.latency(**words).table) for words in (during, before))
    if now_us is None or then_us is None:
        return None
    return f"their requests took {now_us / 1e3:.3g} ms in the mean, {then_us / 1e3:.3g} ms before"


def _mean_us(told: pa.Table) -> float | None:
    requests = told.column("requests")
    count = float(pc.sum(requests).as_py() or 0.0)
    if not count:
        return None
    return float(pc.sum(pc.multiply(requests, told.column("mean_us"))).as_py()) / count


def _soundness(data: Data, group: Group, until_us: int) -> str | None:
    """Return the part of the entries whose ids make sense."""
    seen = data.quality(**_where(group), **span(group, until_us)).table
    entries = pc.sum(seen.column("entries")).as_py()
    if not entries:
        return None
    sound = seen.filter(pc.equal(seen.column("class"), _SOUND)).column("entries")
    return f"{(pc.sum(sound).as_py() or 0) / entries:.0%} of the entries have a sound id"


def _where(group: Group) -> dict[str, Any]:
    return {
        "filesystem": group.filesystem, "target": list(map(exactly, group.targets)) or None
    }  # fmt: skip


def _ending(group: Group) -> str | None:
    if group.end_us is None:
        return None
    minutes = max(round((group.end_us - group.start_us) / MINUTE_US), 1)
    if group.lead.settled:
        return f"the new level has been the usual one since {minutes} min after it began"
    return f"it was over after {minutes} min"
