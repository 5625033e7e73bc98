"""What is read for the watch: rates on common steps, zero where nothing was done, gaps as gaps."""

import numpy as np
import pytest

from pfscope.watch.model import Signal
from pfscope.watch.signals import read
from tests.support.query_store import T0
from tests.support.query_tables import data_of, named, one_series, used

MINUTE = 60_000_000
STEP = 2 * MINUTE
MDT, OST = "scratch-MDT0000", "scratch-OST0000"


def quality(target, times, **classes):
    server = "mds1" if "MDT" in target else "oss1"
    return [
        {"time": time, "target": target, "server": server, "class": name, "system": False,
         "entries": entries, "skipped": 0, "repeated": 0}
        for time in times
        for name, entries in {"sound": 9, **classes}.items()
    ]  # fmt: skip


def site(mdt=(0, 2, 4, 6, 8), ost=(0, 2, 4, 6, 8), usage=(), **more):
    """A site whose targets were read at these minutes."""
    reads = {MDT: [T0 + m * MINUTE for m in mdt], OST: [T0 + m * MINUTE for m in ost]}
    rows = [row for target, times in reads.items() for row in quality(target, times, **more)]
    frames = [
        {"server": server, "epoch": "e", "sequence": n, "time": time, "state": "stored"}
        for server, target in (("mds1", MDT), ("oss1", OST))
        for n, time in enumerate(reads[target])
    ]
    return data_of(
        series=[one_series(0, MDT), one_series(1, OST)], quality=rows, frames=frames,
        operations=named("open", ("read_bytes", "bytes"), "samedir_rename"),
        usage_mdt=[u for u in usage if u["series"] == 0],
        usage_ost=[u for u in usage if u["series"] == 1],
    )  # fmt: skip


def opened(begin, end, samples, **more):
    return used(0, T0 + begin * MINUTE, T0 + end * MINUTE, samples, **more)


def got(data, begin=0, end=8, **more):
    return read(data, T0 + begin * MINUTE, T0 + end * MINUTE, **more)


def column(observations, name, measure):
    (number,) = (
        n for n, s in enumerate(observations.signals) if (s.name, s.measure) == (name, measure)
    )
    values, observed = observations.values[:, number], observations.observed[:, number]
    return [value if seen else None for value, seen in zip(values, observed, strict=True)]


def test_rates_are_per_second_and_zero_where_nothing_was_done():
    with site(usage=[opened(0, 2, 120), opened(4, 6, 240)]) as data:
        observations = got(data)
    assert column(observations, MDT, "open") == pytest.approx([1.0, 0.0, 2.0, 0.0])
    assert column(observations, "scratch", "open") == pytest.approx([1.0, 0.0, 2.0, 0.0])
    assert np.diff(observations.times_us).tolist() == [STEP] * 3
    assert (observations.times_us - observations.begins_us == STEP).all()


def test_bytes_and_metrics_have_their_units():
    usage = [opened(0, 2, 120), used(1, T0, T0 + STEP, 30, total=240 * 2**20, operation=1)]
    with site(usage=usage) as data:
        observations = got(data)
    units = {(s.scope, s.measure): s.unit for s in observations.signals}
    assert units["target", "read_bytes"] == units["filesystem", "bytes"] == "bytes"
    assert units["target", "iops"] == units["target", "metadata"] == "requests"
    assert column(observations, OST, "bytes")[0] == pytest.approx(2 * 2**20)
    assert column(observations, MDT, "metadata")[0] == pytest.approx(2.0)
    assert column(observations, "scratch", "iops")[0] == pytest.approx(1.25)


def test_parts_of_renames_are_not_watched_twice():
    with site(usage=[opened(0, 2, 60, operation=2), opened(0, 2, 120)]) as data:
        assert "samedir_rename" not in {s.measure for s in got(data).signals}


def test_a_long_gap_is_missing_and_a_lost_read_is_not():
    """A step between two reads that are near has its part of what was done between them."""
    usage = [opened(0, 2, 120), opened(2, 6, 480), opened(30, 32, 120)]
    with site(mdt=(0, 2, 6, 30, 32), ost=range(0, 34, 2), usage=usage) as data:
        observations = got(data, end=32, step_us=STEP)
    expected = [1.0, 2.0, 2.0, *[None] * 12, 1.0]
    assert column(observations, MDT, "open") == pytest.approx(expected)
    assert column(observations, "scratch", "open") == pytest.approx(expected)
    missing = observations.observed[:, [s.name == MDT for s in observations.signals]]
    assert (
        observations.values[:, [s.name == MDT for s in observations.signals]][~missing] == 0
    ).all()


def test_steps_that_may_yet_fill_are_told():
    with site(mdt=(0, 2, 4), ost=(0, 2, 4, 6), usage=[opened(0, 2, 120)]) as data:
        observations = got(data, end=6)
    assert observations.complete_us == T0 + 4 * MINUTE
    assert column(observations, MDT, "open") == pytest.approx([1.0, 0.0, None])


def test_a_target_that_is_gone_is_not_waited_for():
    with site(mdt=(0, 2), ost=range(0, 34, 2), usage=[opened(0, 2, 120)]) as data:
        assert got(data, end=32, step_us=STEP).complete_us == T0 + 32 * MINUTE


def test_known_signals_are_there_though_nothing_was_done():
    old = Signal("scratch", "target", MDT, "unlink")
    gone = Signal("scratch", "target", "scratch-MDT0009", "open")
    with site(usage=[opened(0, 2, 120)]) as data:
        observations = got(data, known=[old, gone])
    assert column(observations, MDT, "unlink") == [0.0] * 4
    assert column(observations, "scratch-MDT0009", "open") == [None] * 4


def test_the_share_of_malformed_ids_is_watched():
    with site(malformed=3) as data:
        observations = got(data)
    assert column(observations, MDT, "malformed") == pytest.approx([0.25] * 4)
    (unit,) = {s.unit for s in observations.signals if s.measure == "malformed"}
    assert unit == "share"


def test_pieces_give_the_same_as_the_whole():
    usage = [opened(m, m + 2, 60 * (m + 1)) for m in range(0, 8, 2)]
    with site(usage=usage) as data:
        whole = got(data)
        pieces = [got(data, m, m + 4, step_us=STEP, known=whole.signals) for m in (0, 4)]
    assert np.array_equal(np.concatenate([p.values for p in pieces]), whole.values)
    assert np.array_equal(np.concatenate([p.observed for p in pieces]), whole.observed)


def test_a_period_without_a_whole_step_is_empty():
    with site(usage=[opened(0, 2, 120)]) as data:
        assert len(got(data, 0, 1, step_us=STEP).times_us) == 0
        assert len(read(data, T0 - 10**12, T0 - 9 * 10**11).signals) == 0
