"""Which ranks the critical path of a run goes through, where a log tells ranks apart."""

import numpy as np
import pyarrow as pa

from pfscope.mine.sweep import Indices, Seconds, sweep, union
from pfscope.mine.sweep_files import Spans, numbers


def rank_shares(
    files: pa.Table, spans: Spans, single: Spans, ranks: Indices, critical_s: float
) -> dict[int, float]:
    """Return the share of the critical time that each of the fewest ranks was the cause of.

    `single` are the times in which single ranks used files that several share, `ranks` are those.
    What is missing to 1 was spent in files of which the log tells the sum over ranks alone.
    """
    owner = numbers(files["rank"])[spans.row]
    alone = np.isfinite(owner)
    who = np.concatenate([owner[alone].astype(np.int64), ranks])
    start, end = (
        np.concatenate([whole[alone], one])
        for whole, one in ((spans.start, single.start), (spans.end, single.end))
    )
    merged = union(start, end, who)
    path = sweep(merged.start, merged.end)
    return _shares(merged.group[path.interval], path.length, critical_s)


def _shares(owner: Indices, length: Seconds, whole: float) -> dict[int, float]:
    ranks, places = np.unique(owner, return_inverse=True)
    sums = np.bincount(places, length, len(ranks))
    pairs = zip(ranks.tolist(), sums.tolist(), strict=True)
    return {rank: spent / whole for rank, spent in pairs} if whole else {}
