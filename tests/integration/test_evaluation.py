"""The watch on stories whose truth is known: found, with the right cause; and nobody without one.

A small part of `make evaluate`.
"""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.evaluation import ways
from benchmarks.evaluation.judge import judge
from benchmarks.evaluation.plan import EVALUATION, TUNING, tasks
from benchmarks.evaluation.quick import STEP_US, Rates, Recent
from pfscope.lab.cluster import Cluster
from pfscope.lab.scenarios import story
from pfscope.watch.batch import pieces
from pfscope.watch.signals import MALFORMED

SEED = TUNING[0]
HOUR_US = 3_600_000_000


def test_no_seed_was_tuned_on_and_is_judged_by():
    assert not set(TUNING) & set(EVALUATION)
    assert {task.seed for task in tasks(EVALUATION)} <= set(EVALUATION)


@pytest.fixture(scope="module")
def short_story():
    """Three hours of a site on which a job opens and closes many files."""
    told = story("metadata-storm", "mini", SEED)
    (request, *_) = told.options.incidents
    again = replace(request, start=6000.0, duration_s=2400.0)
    return replace(told, options=replace(told.options, incidents=(again,)), hours=3.0)


@pytest.fixture(scope="module")
def both(short_story):
    """What the watch reads of a story by each way, and who was behind it."""
    start_us = ways.START_US
    asked = {
        "by": "user", "operation": "open", "start": "2022-10-27T01:40", "end": "2022-10-27T02:10",
        "baseline": "1h",
    }  # fmt: skip
    with ways.stored(short_story) as data:
        (seen,) = pieces(data, start_us, start_us + 3 * HOUR_US)
        by_text = data.causes(**asked).to_pylist()
    cluster = Cluster(short_story.options)
    recent, rates = Recent(cluster), Rates(cluster.site)
    rows = []
    for time_ns, used in cluster.usage(hours=short_story.hours):
        recent.add(time_ns // 1000, used)
        rows.append(rates(used))
    told = recent.data.causes(**asked).to_pylist()
    recent.close()
    return seen, by_text, rates.signals, np.array(rows), told


def test_the_short_way_shows_the_watch_the_same(both):
    seen, _, signals, rows, _ = both
    place = {signal: n for n, signal in enumerate(signals)}
    of_load = [s for s in seen.signals if s.measure != MALFORMED]
    assert len(of_load) > 60
    columns = [seen.signals.index(signal) for signal in of_load]
    assert seen.observed[:, columns].all()
    assert np.diff(seen.times_us).tolist() == [STEP_US] * (len(rows) - 1)
    quick = rows[:, [place[signal] for signal in of_load]]
    assert seen.values[:, columns] == pytest.approx(quick, rel=1e-9, abs=1e-9)
    never = [n for signal, n in place.items() if signal not in set(of_load)]
    assert not rows[:, never].any()


def test_the_short_way_has_the_same_causes(both):
    _, by_text, _, _, told = both
    assert by_text[0]["user"] == told[0]["user"]
    assert by_text[0]["share"] == pytest.approx(told[0]["share"], rel=1e-6)


def test_storms_are_found_at_once_with_who_is_behind_them():
    told = story("metadata-storm", "mini", SEED)
    verdict = judge("metadata-storm", "mini", told, ways.quick(told))
    assert verdict.troubles == 3
    assert (verdict.in_time, verdict.first, verdict.paged) == (3, 3, 3)
    assert verdict.true_pages == verdict.pages


@pytest.mark.parametrize("name", ["reset-storm", "agent-outage"])
def test_servers_that_restart_and_agents_that_are_silent_page_nobody(name):
    live = ways.real(replace(story(name, "mini", SEED), hours=5.2))
    assert len(live.trends.signals) > 60
    assert not [s for s in live.said.values() if s.paged_us]


def test_many_damaged_ids_are_told_and_nobody_is_blamed():
    told = replace(story("malformed-burst", "mini", SEED), hours=4.7)
    said = list(ways.real(told).said.values())
    of_ids = [s.last for s in said if s.last.kind == "malformed_ids"]
    assert of_ids
    assert all(i.causes == () and i.severity == "info" for i in of_ids)
    assert all("quality" in i.advice.commands[0] for i in of_ids)
    assert not [s for s in said if s.paged_us]
