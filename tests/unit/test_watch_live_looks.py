"""A watch that looks now and then, or is restored in between, finds what one look finds."""

import random

import pytest

import pfscope
from pfscope.opening import open_local
from pfscope.watch.batch import watch
from pfscope.watch.live import Live
from pfscope.watch.live_file import LiveFile
from pfscope.watch.model import State
from tests.support import watch_site

LAST_US = watch_site.minute_us(watch_site.MINUTES)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return watch_site.make_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def source(directory):
    source = open_local(directory)
    yield source
    source.close()


@pytest.fixture(scope="module")
def at_once(directory):
    with pfscope.open(directory) as data:
        (incident,) = watch(data, watch_site.START_US, LAST_US)
        return incident


def moments(step, seed=1):
    """Return the minutes of looks, some of which come late."""
    chosen = random.Random(seed)
    found = range(watch_site.BEGIN - 10, watch_site.END + 20, step)
    return [watch_site.minute_us(m) for m in found if chosen.random() < 0.8] + [LAST_US]


def looks(source, times, file=None):
    """Look at these times; with a file, each look is by a watch that was restored from it."""
    live, sights = Live(source, watch_site.START_US), []
    for time_us in times:
        sights += live.look(time_us)
        if file:
            file.write(live.state())
            live = Live(source, 0, file.read())
    return sights


@pytest.mark.parametrize("step", [3, 200])
def test_many_looks_find_what_one_look_over_the_past_finds(source, at_once, step):
    (incident,) = looks(source, moments(step))[-1].incidents
    assert incident == at_once


def test_it_is_told_when_it_is_found_when_it_ends_and_seldom_in_between(source, at_once):
    sights = [each for each in looks(source, moments(2)) if each.incidents]
    states = [each.incidents[0].state for each in sights]
    assert states == sorted(states, key=[State.ONGOING, State.ENDED].index)
    assert set(states) == {State.ONGOING, State.ENDED}
    assert {each.incidents[0].id for each in sights} == {at_once.id}
    found_after_us = sights[0].at_us - watch_site.minute_us(watch_site.BEGIN)
    assert found_after_us <= 5 * 60 * 10**6
    assert len(sights) < 12


def test_a_watch_that_is_restored_after_each_look_goes_on_as_one_that_never_stopped(
    source, at_once, tmp_path
):
    (incident,) = looks(source, moments(6), LiveFile(tmp_path))[-1].incidents
    assert incident == at_once


def test_a_look_at_nothing_new_tells_nothing(source):
    live = Live(source, watch_site.START_US)
    assert len(list(live.look(LAST_US))) > 0
    assert list(live.look(LAST_US)) == []


def test_silence_makes_what_goes_on_unknown_once(source):
    live = Live(source, watch_site.START_US)
    sights = list(live.look(watch_site.minute_us(watch_site.BEGIN + 8)))
    assert sights[-1].incidents[0].state is State.ONGOING
    assert live.silence().incidents[0].state is State.UNKNOWN
    assert live.silence() is None
    (again,) = live.look(watch_site.minute_us(watch_site.BEGIN + 9))
    assert again.incidents[0].state is State.ONGOING


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"nonsense"])
def test_a_damaged_file_is_passed_by_and_told(tmp_path, content, caplog):
    file = LiveFile(tmp_path)
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch/state.npz").write_bytes(content)
    assert file.read() is None
    assert "passed by" in caplog.text
