"""Quality: entries by class, as each read shows them or the highest number of a step."""

import pytest

from pfscope.errors import UsageError
from tests.support.query_tables import data_of, frames_at
from tests.support.store_rows import at, moment

READS = tuple(at(minute=m) for m in range(0, 21, 2))


def seen(time_us, entries, target="scratch-OST0000", of="sound", system=False, server="oss1"):
    return {
        "time": time_us, "target": target, "class": of, "system": system, "entries": entries,
        "server": server,
    }  # fmt: skip


def site():
    rows = [seen(t, 100 + n) for n, t in enumerate(READS)]
    rows += [seen(t, n, of="malformed") for t, n in zip(READS[1:4], (3, 70, 5), strict=True)]
    rows += [seen(t, 8, of="sound", system=True) for t in READS]
    rows += [seen(t, 9, target="home-MDT0000", server="mds1") for t in READS]
    return data_of(quality=rows, frames=frames_at(*READS))


def test_each_read_stands_for_itself():
    with site() as opened:
        answer = opened.ask("quality", target="*OST*", **{"class": "mal*"})
    assert answer.to_pylist() == [
        {
            "time": moment(t), "target": "scratch-OST0000", "class": "malformed", "system": False,
            "entries": n,
        }
        for t, n in zip(READS[1:4], (3, 70, 5), strict=True)
    ]  # fmt: skip
    assert answer.about["unit"] == "entries"


def test_a_step_shows_the_highest_number_so_that_a_burst_is_seen():
    with site() as opened:
        answer = opened.quality(step="10m", server="oss1", system=False).to_pylist()
    found = {(row["time"], row["class"]): row["entries"] for row in answer}
    assert found == {
        (moment(at(minute=10)), "sound"): 105,
        (moment(at(minute=10)), "malformed"): 70,
        (moment(at(minute=20)), "sound"): 110,
    }


def test_a_step_that_the_period_cuts_ends_with_the_period():
    with site() as opened:
        answer = opened.quality(step="10m", end="2022-10-27T00:14", kind="mdt").to_pylist()
    assert [row["time"] for row in answer] == [moment(at(minute=10)), moment(at(minute=14))]


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ({"filesystem": "home"}, 11), ({"kind": "ost", "system": True}, 11),
        ({"server": "!oss1"}, 11), ({"target": "nothing"}, 0), ({"step": "observed"}, 36),
    ],
)  # fmt: skip
def test_entries_are_picked_by_place(words, rows):
    with site() as opened:
        assert len(opened.quality(**words)) == rows


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"user": "1000"}, "does not know of any user"),
        ({"by": "user"}, "cannot be grouped"),
        ({"operation": "open"}, "no --operation"),
        ({"login": True}, "no --login"),
    ],
)
def test_what_entries_do_not_tell_is_refused(words, said):
    with site() as opened, pytest.raises(UsageError, match=said):
        opened.ask("quality", **words)
