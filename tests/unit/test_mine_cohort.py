"""Which factor separates slow runs from fast ones: found where it is, and else not invented."""

from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

from pfscope.mine.factors_cohort import (
    BANDWIDTH,
    FACTORS,
    SCALE,
    compare,
    mann_whitney,
    standing,
)


def cohort(runs, random, **planted):
    """Factors by chance, but for those that are planted."""
    columns = {name: random.uniform(0, 100, runs) for name in (*FACTORS, *SCALE)}
    columns[BANDWIDTH] = random.lognormal(5, 1, runs)
    return pa.table({**columns, **{name: of(columns[BANDWIDTH]) for name, of in planted.items()}})


def test_a_factor_that_slows_runs_down_is_found():
    random = np.random.default_rng(1)
    runs = cohort(90, random, small_pct=lambda b: 90 - 20 * np.log10(b) + random.normal(0, 4, 90))
    found = compare(runs)
    assert found.runs == 90
    assert [one.factor for one in found.separating] == ["small_pct"]
    (small,) = found.separating
    assert small.effect > 0.9
    assert small.slow > small.fast


def test_what_follows_from_being_slow_is_no_cause():
    random = np.random.default_rng(7)
    runs = cohort(90, random, metadata_pct=lambda b: 5 * np.log10(b) + random.normal(0, 1, 90))
    metadata = next(one for one in compare(runs).separations if one.factor == "metadata_pct")
    assert metadata.effect < -0.9
    assert not metadata.separates


def test_none_is_an_answer():
    found = compare(cohort(90, np.random.default_rng(2)))
    assert found.separating == ()
    assert len(found.separations) == len(FACTORS) + len(SCALE)


def test_chance_alone_seldom_names_a_factor():
    random = np.random.default_rng(3)
    named = sum(bool(compare(cohort(60, random)).separating) for _ in range(500))
    assert 0 < named <= 500 * 0.075, "one in twenty is what the criterion allows, of all factors"


def test_a_small_difference_is_not_named_however_sure_it_is():
    random = np.random.default_rng(4)
    runs = cohort(
        9000, random, small_pct=lambda b: random.normal(50, 10, 9000) - 4 * (b > np.median(b))
    )
    small = next(one for one in compare(runs).separations if one.factor == "small_pct")
    assert small.p < 1e-6
    assert not small.separates


def test_too_few_runs_say_nothing():
    assert compare(cohort(17, np.random.default_rng(5))).separations == ()
    assert compare(cohort(18, np.random.default_rng(5))).separations != ()


def test_factors_that_are_all_alike_or_unknown_are_not_tried():
    runs = cohort(
        60, np.random.default_rng(6), coll_pct=lambda b: 0 * b, proc_per_ost=lambda b: b * np.nan
    )
    tried = {one.factor for one in compare(runs).separations}
    assert tried == {*FACTORS, *SCALE} - {"coll_pct", "proc_per_ost"}


@pytest.mark.parametrize("tied", [False, True])
def test_the_rank_test_is_near_that_over_all_permutations(tied):
    first, second = np.array([3.0, 5, 6, 7.5]), np.array([1.0, 2, 4, 4.5])
    if tied:
        first, second = np.array([3.0, 3, 6, 7]), np.array([1.0, 3, 4, 1])
    both = np.concatenate([first, second])

    def delta(part, rest):
        return np.sign(np.subtract.outer(part, rest)).mean()

    effect, p = mann_whitney(first, second)
    assert effect == pytest.approx(delta(first, second))
    all_ways = [delta(np.array(way[:4]), np.array(way[4:])) for way in set(permutations(both))]
    exact = np.mean([abs(way) >= abs(effect) - 1e-9 for way in all_ways])
    assert p == pytest.approx(exact, abs=0.03)


def test_where_a_run_stands_among_others():
    runs = pa.table({"small_pct": [1.0, 2, 2, 9, None]})
    assert standing(runs, "small_pct", 2.0) == 0.5
    assert standing(runs, "small_pct", 10.0) == 1
    assert standing(runs, "small_pct", float("nan")) is None
