"""Times and durations as people write them."""

import pytest

from pfscope.errors import UsageError
from pfscope.times import duration_us, iso, time_us

HOUR = 3600 * 10**6
NOON = 1_666_872_000 * 10**6


@pytest.mark.parametrize(
    ("text", "wanted_us"),
    [("120", 120 * 10**6), ("2m", 120 * 10**6), ("1h30m", 5400 * 10**6), ("0.25s", 250_000),
     ("7d", 7 * 24 * HOUR), ("500ms", 500_000)],
)  # fmt: skip
def test_durations(text, wanted_us):
    assert duration_us(text) == wanted_us


@pytest.mark.parametrize(
    "text", ["", "0", "2 m", "m", "-2m", "1x", "1h 30m", "9" * 30 + "d", "nan"]
)
def test_no_durations(text):
    with pytest.raises(UsageError, match="duration"):
        duration_us(text)


@pytest.mark.parametrize(
    ("text", "wanted_us"),
    [("2022-10-27T12:00:00Z", NOON), ("2022-10-27T12:00", NOON), ("2022-10-27 12:00:00", NOON),
     ("2022-10-27T15:00:00+03:00", NOON), ("2022-10-27T15:00:00 03:00", NOON),
     ("2022-10-27", NOON - 12 * HOUR), ("now", 5 * NOON), ("-2h", 5 * NOON - 2 * HOUR)],
)  # fmt: skip
def test_times(text, wanted_us):
    assert time_us(text, now_us=5 * NOON) == wanted_us


def test_a_day_as_an_end_is_meant_whole():
    assert time_us("2022-10-27", now_us=0, end=True) == NOON + 12 * HOUR
    assert time_us("20221027", now_us=0, end=True) == NOON + 12 * HOUR


@pytest.mark.parametrize("text", ["", "yesterday", "2022-13-01", "27.10.2022", "--2h", "-"])
def test_no_times(text):
    with pytest.raises(UsageError):
        time_us(text, now_us=0)


def test_times_are_written_as_they_are_read():
    assert time_us(iso(NOON + 1), now_us=0) == NOON + 1
