"""Columns as plain rows, in the shape of `reference_reader`, so that tests can compare."""

from pfscope.lustre.job_stats import UNKNOWN_TIME


def entries_of(stats):
    """Return (target, id, {time: ns}, {operation: (unit, samples, min, max, sum, sumsq, bins)})."""
    rows = []
    for i in range(stats.entries):
        times = {"snapshot_time": stats.snapshot_ns[i], "start_time": stats.start_ns[i]}
        known = {k: int(v) for k, v in times.items() if v != UNKNOWN_TIME}
        rows.append((stats.targets[stats.target[i]], stats.ids[stats.entry_id[i]], known, {}))
    bins = [[] for _ in range(stats.counters)]
    for counter, bound, count in zip(
        stats.hist_counter, stats.hist_bound, stats.hist_count, strict=True
    ):
        bins[counter].append((int(bound), int(count)))
    for i in range(stats.counters):
        measured = [int(c[i]) for c in (stats.minimum, stats.maximum, stats.total)]
        numbers = measured if stats.measured[i] else [None] * 3
        sumsq = int(stats.sumsq[i]) if stats.squared[i] else None
        unit = stats.units[stats.unit[i]]
        operation = stats.operations[stats.operation[i]]
        rows[stats.entry[i]][3][operation] = (
            unit, int(stats.samples[i]), *numbers, sumsq, bins[i],
        )  # fmt: skip
    return rows
