"""How Slurm writes durations, sizes, times and exit codes, one line for each way."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from pfscope.logs import slurm_values as values


def one(convert, text):
    found = convert(pa.array([text.encode()], pa.binary()))
    return found.array[0].as_py(), found.unread


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("00:00:00", 0), ("01:02:03", 3723), ("1-00:00:00", 86_400), ("125-00:00:00", 10_800_000),
        ("02:03", 123), ("00:15.054", 15.054), ("01:00:00.5", 3600.5),
        ("2-01:00:00.001", 176_400.001),
    ],
)  # fmt: skip
def test_durations(text, seconds):
    assert one(values.duration, text) == (pytest.approx(seconds), 0)


@pytest.mark.parametrize("text", ["1:2", "-1:00:00", "1-", "12", "01:00:00:00", "1e3:00", "x"])
def test_what_is_no_duration(text):
    assert one(values.duration, text) == (None, 1)


@pytest.mark.parametrize("text", ["UNLIMITED", "Partition_Limit", "INVALID", ""])
def test_no_limit(text):
    assert one(values.whole_seconds, text) == (None, 0)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0), ("16", 16), ("16?", 16), ("0.00K", 0), ("231092K", 231_092 * 1024),
        ("0.31M", 325_058), ("85399.46K", 87_449_047), ("3000Mc", 3000 << 20),
        ("48000Mn", 48_000 << 20), ("4Gn", 4 << 30), ("1.50T", 3 << 39), ("2P", 2 << 50),
    ],
)  # fmt: skip
def test_sizes_and_counts(text, number):
    assert one(values.size, text) == (number, 0)


@pytest.mark.parametrize("text", ["-1", "1.2.3", "K", "1KB", "9999999999E", "1e9", "\u0661"])
def test_what_is_no_size(text):
    assert one(values.size, text) == (None, 1)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2022-10-27T01:02:03", datetime(2022, 10, 27, 1, 2, 3, tzinfo=UTC)),
        ("2024-02-29T00:00:00", datetime(2024, 2, 29, tzinfo=UTC)),
        ("1666828800", datetime(2022, 10, 27, tzinfo=UTC)),
    ],
)
def test_times(text, time):
    assert one(values.times("UTC"), text) == (time, 0)


@pytest.mark.parametrize("text", ["Unknown", "None", "", "N/A", "0"])
def test_times_that_are_not_known(text):
    assert one(values.times("UTC"), text) == (None, 0)


@pytest.mark.parametrize(
    "text",
    ["2022-02-30T00:00:00", "2022-13-01T00:00:00", "2022-10-27 00:00:00", "2022-10-27T24:00:00",
     "2022-10-27T00:00:00Z", "27 Oct 00:00", "22:00", "-5"],
)  # fmt: skip
def test_what_is_no_time(text):
    assert one(values.times("UTC"), text) == (None, 1)


def test_hours_that_clocks_change():
    helsinki = values.times("Europe/Helsinki")
    twice = datetime(2022, 10, 30, 0, 30, tzinfo=UTC)
    skipped = datetime(2022, 3, 27, 1, 0, tzinfo=UTC)
    assert one(helsinki, "2022-10-30T03:30:00") == (twice, 0)
    assert one(helsinki, "2022-03-27T03:30:00") == (skipped, 0)


@pytest.mark.parametrize(("text", "code", "signal"), [("0:0", 0, 0), ("1:0", 1, 0), ("0:9", 0, 9)])
def test_exit_codes(text, code, signal):
    assert one(values.exit_code, text) == (code, 0)
    assert one(values.exit_signal, text) == (signal, 0)


def test_each_cell_that_makes_no_sense_counts_though_it_is_read_once():
    found = values.size(pa.array([b"x", b"1", b"x", b""], pa.binary()))
    assert found.array.to_pylist() == [None, 1, None, None]
    assert found.unread == 2
