"""Raw counters out of stored increments, against lives of entries told one by one."""

from collections import defaultdict

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.query_tables import data_of, frames_at, named, one_series, used
from tests.support.store_rows import MINUTE_US, at, moment

READS = 12
TIMES = [at(minute=2 * n) for n in range(READS)]
WRITE, OPEN = 0, 1
NODES = ("r01", "r01", "r02", None)
SERIES = [one_series(n, "scratch-OST0000", node=node) for n, node in enumerate(NODES)]

reads = st.one_of(
    st.none(),
    st.tuples(
        st.integers(0, 9),
        st.integers(0, 3),
        st.sampled_from(["", "", "", "restarted", "baseline"]),
    ),
)
lives = st.lists(st.lists(reads, min_size=READS - 1, max_size=READS - 1), min_size=4, max_size=4)
"""For each series and read: nothing new, or growth of both operations and what began anew."""


def stored(all_lives):
    """Return the rows that are stored of such lives; the first of each is a beginning."""
    rows = []
    for series, life in enumerate(all_lives):
        known = False
        for n, read in enumerate(life, 1):
            if read is None or read[:2] == (0, 0):
                continue
            *growth, mark = read
            mark, known = mark if known else mark or "restarted", True
            marks = {"restarted": mark != "", "baseline": mark == "baseline"}
            begin = TIMES[n] if mark == "baseline" else TIMES[n - 1]
            rows += [
                used(series, begin, TIMES[n], count, operation=operation, **marks)
                for operation, count in zip((WRITE, OPEN), growth, strict=True)
                if count
            ]
    return rows


def printed(rows):
    """Return what each series showed at each read, and where it fell to zero after one."""
    shown, fallen = defaultdict(dict), defaultdict(set)
    by_read = defaultdict(list)
    for row in rows:
        by_read[row["series"], row["time"]].append(row)
    value = defaultdict(int)
    for (series, time), some in sorted(by_read.items(), key=lambda item: item[0][::-1]):
        if some[0]["restarted"]:
            value[series] = 0
        if some[0]["restarted"] and not some[0]["baseline"]:
            fallen[series].add(some[0]["begin"])
        writes = [row["samples"] for row in some if row["operation"] == WRITE]
        value[series] += sum(writes)
        if writes or some[0]["restarted"]:
            shown[series][time] = value[series]
    writers = {row["series"] for row in rows if row["operation"] == WRITE}
    return {n: shown[n] for n in writers}, {n: fallen[n] for n in writers}


def level(shown, fallen, time, *, after):
    """Return what a series counts at a time, or right after it."""
    held = [t for t in shown if t <= time]
    drops = [t for t in fallen if t < time or (after and t == time)]
    if not held or (drops and max(drops) >= max(held)):
        return 0
    return shown[max(held)]


def expected(rows):
    """Return time, node and counter where something happened, by going through everything."""
    shown, fallen = printed(rows)
    found = []
    for time in TIMES:
        for node in ("r01", "r02", None):
            mine = [n for n in shown if NODES[n] == node]
            before = sum(level(shown[n], fallen[n], time, after=False) for n in mine)
            behind = sum(level(shown[n], fallen[n], time, after=True) for n in mine)
            dropped = any(time in fallen[n] for n in mine)
            seen = any(time in shown[n] for n in mine)
            if seen or before != behind:
                found.append((moment(time), node, before))
            if dropped and (before != behind or not seen):
                found.append((moment(time), node, behind))
    return found


@settings(max_examples=20, deadline=None)
@given(lives)
def test_counters_are_what_was_printed(all_lives):
    rows = stored(all_lives)
    with data_of(
        usage_ost=rows, series=SERIES, operations=named(("write_bytes", "bytes"), "open"),
        frames=frames_at(TIMES[0] - MINUTE_US, *TIMES),
    ) as opened:  # fmt: skip
        answer = opened.counters(by="node", operation="write").to_pylist()
    assert [(r["time"], r["node"], r["counter"]) for r in answer] == expected(rows)
