"""Balance: all targets that were observed take part, and each pool is told by itself."""

import pytest

from pfscope.errors import UsageError
from tests.support.query_tables import data_of, frames_at, named, one_series, used
from tests.support.store_rows import at

OSTS = [f"scratch-OST000{n}" for n in range(4)]
PLACES = [*OSTS, "scratch-MDT0000", "home-OST0000"]
SERIES = [one_series(n, target, user="1000") for n, target in enumerate(PLACES)]
SERIES += [one_series(9, OSTS[3], user="1001")]


def site(bytes_by_series):
    hour = at(), at(hour=1)
    seen = [
        {"time": at(hour=1), "target": t, "server": "oss1", "class": "sound", "entries": 1}
        for t in PLACES
    ]
    usage = [used(n, *hour, 1, total) for n, total in bytes_by_series.items()]
    return data_of(
        usage_ost=usage, series=SERIES, quality=seen, frames=frames_at(*hour),
        operations=named(("read_bytes", "bytes")),
    )  # fmt: skip


def test_even_load_is_shared_by_all():
    with site(dict.fromkeys(range(4), 3600)) as opened:
        (row,) = opened.balance(operation="read_bytes").to_pylist()
    assert row == {
        "filesystem": "scratch", "kind": "ost", "targets": 4, "mean": pytest.approx(1),
        "max": pytest.approx(1), "busiest": OSTS[0], "ratio": pytest.approx(1),
        "effective": pytest.approx(4),
    }  # fmt: skip


def test_idle_targets_count_and_file_systems_are_told_apart():
    with site({2: 7200, 5: 3600}) as opened:
        rows = opened.balance(by="filesystem", operation="read_bytes").to_pylist()
    assert [(r["filesystem"], r["targets"], r["busiest"]) for r in rows] == [
        ("home", 1, "home-OST0000"), ("scratch", 4, OSTS[2]),
    ]  # fmt: skip
    scratch = rows[1]
    assert (scratch["mean"], scratch["max"], scratch["ratio"]) == (0.5, 2, 4)
    assert scratch["effective"] == pytest.approx(1)


def test_each_user_spreads_over_targets():
    with site({0: 30, 1: 10, 9: 500}) as opened:
        answer = opened.balance(by="user", operation="read_bytes")
    assert answer.about["by"] == ("filesystem", "kind", "user")
    found = {r["user"]: (r["busiest"], r["ratio"], r["effective"]) for r in answer.to_pylist()}
    assert found == {
        "1000": (OSTS[0], pytest.approx(3), pytest.approx(40**2 / (30**2 + 10**2))),
        "1001": (OSTS[3], pytest.approx(4), pytest.approx(1)),
    }


def test_some_targets_are_a_pool_of_their_own():
    with site({0: 30, 1: 10, 2: 900}) as opened:
        (row,) = opened.balance(operation="bytes", target="*OST000[01]").to_pylist()
    assert (row["targets"], row["ratio"]) == (2, pytest.approx(1.5))


def test_targets_cannot_be_compared_with_themselves():
    with site({0: 1}) as opened, pytest.raises(UsageError, match="among targets"):
        opened.balance(by="target")
