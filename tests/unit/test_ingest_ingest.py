"""The ingest as a whole, on a real store: floods, hostile texts, sizes, restarts, the ledger."""

from collections import Counter

import pytest

from pfscope.frames import Origin, Section
from pfscope.ingest import Ingest, Limits
from pfscope.ingest.reading import TextFrame
from pfscope.store.embedded import open_store

START_S = 1_666_828_800
HEAD = b"obdfilter.scratch-OST0000.job_stats=\njob_stats:\n"


def entry(raw, opens, started_s=START_S - 1000, tail=b""):
    return (
        b"- job_id:          %s\n  snapshot_time:   %d.000000000 secs.nsecs\n"
        b"  start_time:      %d.000000000 secs.nsecs\n"
        b"  open:            { samples: %11d, unit:  reqs }\n%s"
        % (raw, START_S, started_s, opens, tail)
    )


def frame(number, text, server="oss1", interval_s=120.0, epoch="boot"):
    time_ns = (START_S + 120 * number) * 10**9
    origin = Origin(server, epoch, number, time_ns, 10**9 * (5000 + 120 * number), interval_s)
    return TextFrame(origin, (Section("lctl", text),))


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "data") as opened:
        yield opened


def used(store):
    rows = store.query(
        "SELECT entry_id, sum(samples)::BIGINT AS n FROM usage_ost JOIN series USING (series) "
        "WHERE NOT baseline GROUP BY 1"
    ).to_pylist()
    return {row["entry_id"]: row["n"] for row in rows}


def balance(store):
    sums = Counter()
    for line in store.ledger().to_pylist():
        sign = 1 if line["outcome"] == "received" else -1
        sums["frames"] += sign * line["frames"]
        sums["entries"] += sign * line["entries"]
    return {unit: n for unit, n in sums.items() if n}


def test_the_first_observation_is_a_baseline_and_idle_entries_make_no_rows(store):
    ingest = Ingest(store)
    for number, opens in enumerate((100, 107, 107)):
        ingest.take([frame(number, HEAD + entry(b"wget.1000", opens))])
    assert used(store) == {"wget.1000": 7}
    assert store.query("SELECT count(*) AS n FROM usage_ost").to_pylist() == [{"n": 2}]
    assert store.query("SELECT state FROM frames").to_pylist() == [{"state": "stored"}] * 3
    assert balance(store) == {}


@pytest.mark.parametrize(
    "limits", [Limits(new_series_per_hour=10), Limits(entries_per_target=10)], ids=["hour", "all"]
)
def test_a_flood_shares_a_series_and_the_heavy_ones_stay(store, limits):
    ingest = Ingest(store, limits=limits)
    ingest.take([frame(0, HEAD)])
    text = HEAD + b"".join(
        entry(b"flood%d.1000" % i, 1 + 1000 * (i % 10 == 0), START_S + 60) for i in range(100)
    )
    ingest.take([frame(1, text)])
    counted = used(store)
    assert len(counted) == 11
    assert counted["(others)"] == 90
    assert all(counted[f"flood{i}.1000"] == 1001 for i in range(0, 100, 10))
    rows = store.query("SELECT series, operation, time, count(*) AS n FROM usage_ost GROUP BY ALL")
    assert set(rows["n"].to_pylist()) == {1}
    assert balance(store) == {}


@pytest.mark.parametrize(
    "text",
    [
        b"mdt.x.job_cleanup_interval=99999999999999999999\n" + HEAD + entry(b"a.1", 5),
        HEAD + entry(b"a.1", 2**64 - 1),
        HEAD + entry(b"\xff\xfe\x00'; DROP TABLE usage_ost; --", 5),
        b"obdfilter.scratch-OST0000.stats=\nsnapshot_time 1.0 secs.nsecs\n"
        b"open 18446744073709551615 samples [reqs]\n" + HEAD + entry(b"a.1", 5),
        b"\xff" * 1000,
    ],
)
def test_hostile_texts_are_stored_or_counted_and_stop_nothing(store, text):
    ingest = Ingest(store)
    ingest.take([frame(0, HEAD)])
    ingest.take([frame(1, text)])
    ingest.take([frame(2, text + entry(b"wget.1000", 3))])
    assert store.query("SELECT count(*) AS n FROM frames").to_pylist() == [{"n": 3}]
    assert balance(store) == {}


def test_frames_from_the_future_are_refused(store):
    ingest = Ingest(store, clock=lambda: START_S + 1000.0)
    ingest.take([frame(0, HEAD + entry(b"a.1", 5)), frame(10**9, HEAD)])
    ingest.take([frame(1, HEAD + entry(b"a.1", 9))])
    assert used(store) == {"a.1": 4}
    states = Counter(store.query("SELECT state FROM frames")["state"].to_pylist())
    assert states == {"stored": 2, "rejected": 1}
    assert balance(store) == {}


def test_sizes_of_an_interval(store):
    def text(small, large):
        hist = f"4K: {small}, 1M: {large}" if small else f"1M: {large}"
        line = (
            f"  read_bytes:      {{ samples: {small + large:11d}, unit: bytes, min:     4096, "
            f"max:  1048576, sum: {small * 4096 + (large << 20):16d}, sumsq: {10**12:18d}, "
            f"hist: {{ {hist} }} }}\n"
        )
        return HEAD + entry(b"a.1", 5, tail=line.encode())

    ingest = Ingest(store)
    for number, sizes in enumerate(((1, 2), (1, 5), (4, 5))):
        ingest.take([frame(number, text(*sizes))])
    rows = store.query("SELECT bound, count FROM histograms ORDER BY time").to_pylist()
    assert rows == [{"bound": 1 << 20, "count": 3}, {"bound": 4096, "count": 3}]


def test_a_restart_at_any_point_changes_nothing(tmp_path):
    texts = [HEAD + entry(b"a.1", 10 * n) + entry(b"b.2", n * n + 1) for n in range(8)]
    frames = [frame(number, text) for number, text in enumerate(texts)]
    for checkpointed in range(len(frames)):
        with open_store(tmp_path / f"data{checkpointed}") as store:
            ingest = Ingest(store)
            for number, one in enumerate(frames):
                ingest.take([one])
                if number == checkpointed:
                    ingest.checkpoint()
                if number == 5:
                    # The memory is lost here; the journal still has what came since the checkpoint.
                    ingest = Ingest(store)
                    first = checkpointed + 1 if checkpointed <= number else 0
                    ingest.recover(frames[first : number + 1])
            assert used(store) == {"a.1": 70, "b.2": 49}
            assert len(store.query("SELECT * FROM series")) == 2
            assert balance(store) == {}


def test_what_is_gone_is_forgotten_and_what_is_there_is_not(store):
    ingest = Ingest(store, wait_s=0)
    ingest.take([frame(0, HEAD + entry(b"stays.1", 5) + entry(b"goes.1", 5))])
    for number in range(30, 300, 30):
        ingest.take([frame(number, HEAD + entry(b"stays.1", 5 + number))])
    assert len(ingest.memory) == 1
    assert used(store) == {"stays.1": 270}


FLOOD, STEP = 100, 10
"""Ids in each read, all of them new, and the intervals between reads: twenty minutes."""


def flooded(number):
    """Return a read of a flood, with one heavy job in it that was there from the beginning."""
    flood = b"".join(entry(b"flood%d-%d.1" % (number, i), 1, shown(number)) for i in range(FLOOD))
    return frame(number, HEAD + entry(b"heavy.1", 1000 * (number + 1)) + flood)


def shown(number):
    return START_S + 120 * number - 60


def test_a_flood_of_many_hours_fills_neither_the_memory_nor_the_store(store, monkeypatch):
    monkeypatch.setattr("pfscope.ingest.ids.KEPT", 2 * FLOOD)
    ingest = Ingest(store, limits=Limits(entries_per_target=50), wait_s=0)
    reads = range(0, 30 * STEP, STEP)
    for number in reads:
        ingest.take([flooded(number)])
        assert len(ingest.memory) <= 1 + 2 * FLOOD, "what was gone for half an hour is forgotten"
        assert len(ingest.series.ids) <= 2 * FLOOD
    counted = used(store)
    assert counted["heavy.1"] == 1000 * reads[-1]
    assert sum(counted.values()) == counted["heavy.1"] + FLOOD * (len(reads) - 1)
    folded = store.query(
        "SELECT sum(entries)::BIGINT AS n FROM ledger WHERE reason = 'in a shared series'"
    )
    in_the_baseline = 1 + FLOOD - 50
    assert counted["(others)"] == folded["n"][0].as_py() - in_the_baseline
    assert balance(store) == {}


def test_a_target_has_room_again_when_a_flood_is_gone(store):
    ingest = Ingest(store, limits=Limits(entries_per_target=50), wait_s=0)
    ingest.take([flooded(0)])
    for number in (STEP, 2 * STEP, 3 * STEP):
        ingest.take([frame(number, HEAD + entry(b"heavy.1", 1000 * (number + 1)))])
    text = HEAD + entry(b"heavy.1", 1) + entry(b"late.2", 7, shown(4 * STEP))
    ingest.take([frame(4 * STEP, text)])
    assert used(store)["late.2"] == 7


def test_a_flood_on_one_target_takes_nothing_from_another(store):
    ingest = Ingest(store, limits=Limits(entries_per_target=50), wait_s=0)
    ingest.take([flooded(0), flooded(STEP)])
    other = HEAD.replace(b"OST0000", b"OST0001")
    ingest.take(
        [frame(2 * STEP, other), frame(3 * STEP, other + entry(b"a.1", 5, shown(3 * STEP)))]
    )
    assert used(store)["a.1"] == 5


def test_an_id_that_was_forgotten_comes_back_as_new(store):
    ingest = Ingest(store, wait_s=0)
    texts = {0: (b"stays.1", b"goes.1"), 200: (b"stays.1",), 230: (b"stays.1", b"goes.1")}
    for number, ids in texts.items():
        counted = [entry(raw, 5 + number, shown(number)) for raw in ids]
        ingest.take([frame(number, HEAD + b"".join(counted))])
    assert len(ingest.memory) == 2
    names = store.query("SELECT entry_id FROM series ORDER BY series")["entry_id"].to_pylist()
    assert names == ["stays.1", "goes.1", "goes.1"]
    assert used(store)["goes.1"] == 235


def test_more_ids_than_are_kept_are_identified_all_the_same(store, monkeypatch):
    monkeypatch.setattr("pfscope.ingest.ids.KEPT", 3)
    monkeypatch.setattr("pfscope.ingest.reading._IDS_KEPT", 3)
    monkeypatch.setattr("pfscope.ingest.reading._PAST", 0)
    ingest = Ingest(store, wait_s=0)
    for number in range(4):
        ids = [b"prog%d.%d" % (i, 1000 + i) for i in range(number * 3, number * 3 + 5)]
        text = b"".join(entry(raw, 1 + number, shown(number)) for raw in ids)
        ingest.take([frame(number, HEAD + text)])
    rows = store.query(
        'SELECT entry_id, executable, "user" FROM series ORDER BY entry_id'
    ).to_pylist()
    expected = [(f"prog{i}.{1000 + i}", f"prog{i}", str(1000 + i)) for i in range(14)]
    assert [tuple(row.values()) for row in rows] == sorted(expected)
    assert balance(store) == {}
