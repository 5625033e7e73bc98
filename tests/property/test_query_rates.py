"""Rates against brute force in plain Python: nothing that was counted is lost or invented."""

from collections import Counter, defaultdict
from itertools import pairwise
from math import floor, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.query_tables import data_of, frames_at, named, one_series, used

SECOND = 10**6
START = 1_666_828_800 * SECOND
LENGTH_S = 600
USERS = ("1000", "1001", None)
TARGETS = ("scratch-MDT0000", "scratch-MDT0001")
SERIES = [
    one_series(3 * t + u, target, user=user)
    for t, target in enumerate(TARGETS)
    for u, user in enumerate(USERS)
]


@st.composite
def usages(draw):
    """Step functions of a few series, each with timestamps of its own."""
    rows = []
    for series in range(len(SERIES)):
        edges = sorted(draw(st.sets(st.integers(-300, LENGTH_S + 300), max_size=8)))
        for begin, end in pairwise(edges):
            samples = draw(st.integers(0, 10_000))
            if samples:
                rows.append(used(series, START + begin * SECOND, START + end * SECOND, samples))
    return rows


def data(rows, edges=(0, LENGTH_S)):
    return data_of(
        usage_mdt=rows, series=SERIES, operations=named("open"),
        frames=frames_at(*(START + e * SECOND for e in edges)),
    )  # fmt: skip


def words(**more):
    return {"start": _iso(0), "end": _iso(LENGTH_S), "operation": "open", **more}


def _iso(second):
    from pfscope.times import iso

    return iso(START + second * SECOND)


def expected(rows, edges_s, key):
    """Return the increment of each step and key, by going through everything."""
    found = defaultdict(float)
    for row in rows:
        begin, end = ((row[n] - START) / SECOND for n in ("begin", "time"))
        for low, high in pairwise(edges_s):
            overlap = min(end, high) - max(begin, low)
            if overlap > 0:
                part = row["samples"] * overlap / (end - begin)
                found[high, key(SERIES[row["series"]])] += part
    return found


def increments(result, edges_s, keys):
    lengths = {high: high - low for low, high in pairwise(edges_s)}
    return {
        (high := round(row["time"].timestamp() - START / SECOND), *(row[k] for k in keys)):
        row["rate"] * lengths[high]
        for row in result.to_pylist()
    }  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(usages(), st.integers(7, 700))
def test_even_steps_preserve_every_increment(rows, step):
    edges = sorted({0, LENGTH_S, *range(-START // SECOND % step, LENGTH_S, step)})
    with data(rows) as opened:
        found = increments(opened.series(step=str(step), **words()), edges, ["user"])
    wanted = expected(rows, edges, lambda series: series["user"])
    assert found == pytest.approx(wanted)


@settings(max_examples=15, deadline=None)
@given(usages(), st.sets(st.integers(1, LENGTH_S - 1), max_size=6))
def test_steps_at_the_times_of_observation_preserve_every_increment(rows, inner):
    edges = sorted({0, LENGTH_S, *inner})
    with data(rows, edges) as opened:
        found = increments(opened.totals(step="observed", **words()), edges, ["target"])
    assert found == pytest.approx(expected(rows, edges, lambda series: series["target"]))


@settings(max_examples=15, deadline=None)
@given(usages())
def test_sums_do_not_depend_on_the_order_of_grouping(rows):
    with data(rows) as opened:
        fine = opened.series(by=("user", "target"), step="60", **words()).to_pylist()
        coarse = opened.totals(by="filesystem", step="60", **words()).to_pylist()
        ranked = opened.top(by=("target", "user"), step="60", **words()).to_pylist()
    sums = Counter()
    for row in fine:
        sums[row["time"]] += row["rate"]
    assert {row["time"]: row["rate"] for row in coarse} == pytest.approx(dict(sums))
    assert sum(row["total"] for row in ranked) == pytest.approx(60 * sum(sums.values()))
    assert sum(row["share"] for row in ranked) == pytest.approx(1.0 if rows and sums else 0.0)


@settings(max_examples=15, deadline=None)
@given(usages(), st.integers(2, 12))
def test_density_counts_what_brute_force_counts(rows, base):
    with data(rows) as opened:
        rates = opened.series(by=("user", "target"), step="60", **words()).to_pylist()
        found = opened.density(by=("user", "target"), base=base, step="60", **words()).to_pylist()
    wanted = Counter()
    for row in rates:
        exponent = floor(log(row["rate"]) / log(base))
        exponent += (row["rate"] >= float(base) ** (exponent + 1)) - (
            row["rate"] < float(base) ** exponent
        )
        wanted[row["time"], exponent] += 1
    assert {
        (row["time"], round(log(row["bucket_low"]) / log(base))): row["count"] for row in found
    } == wanted
    assert all(row["bucket_high"] == pytest.approx(row["bucket_low"] * base) for row in found)
