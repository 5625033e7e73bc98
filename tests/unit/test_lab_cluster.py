import itertools
from collections import Counter
from datetime import UTC, datetime

import numpy as np
import pytest

from pfscope.errors import UsageError
from pfscope.lab.archetypes import OPERATIONS
from pfscope.lab.cluster import Cluster, Options
from pfscope.lab.dialects import BYTES_OPERATIONS, DIALECTS
from pfscope.lab.faults import FAULTS
from pfscope.lab.incidents import Request
from pfscope.lab.tables import ServerSnapshot
from tests.support.lab_differences import Reader, truth

OLDEST = next(iter(DIALECTS))
NO_FAULTS: frozenset[str] = frozenset()
NOON = datetime(2022, 10, 27, 12, tzinfo=UTC)


def last(snapshots):
    return list(snapshots)[-1]


def by_name(snapshots: list[ServerSnapshot]) -> dict[str, ServerSnapshot]:
    return {snapshot.server: snapshot for snapshot in snapshots}


def test_same_seed_same_snapshots_and_another_seed_others():
    def run(seed):
        return [
            (s.server, s.boot_id, t.ids, t.snapshot_ns.tolist(), t.sumsq.tolist())
            for snapshots in Cluster(Options(seed=seed, dialects=("2.16",))).run(hours=0.2)
            for s in snapshots
            for t in s.tables
        ]

    assert run(3) == run(3)
    assert run(3) != run(4)


def test_a_longer_run_begins_like_a_shorter_one():
    short = list(Cluster(Options()).run(hours=0.2))
    long = list(itertools.islice(Cluster(Options()).run(hours=30.0), len(short)))
    for a, b in zip(short, long, strict=True):
        assert [t.ids for s in a for t in s.tables] == [t.ids for s in b for t in s.tables]


def test_what_happens_does_not_depend_on_the_dialect():
    old, new = (last(Cluster(Options(dialects=(d,))).run(hours=0.3)) for d in (OLDEST, "2.17"))
    for a, b in zip(old, new, strict=True):
        for one, other in zip(a.tables, b.tables, strict=True):
            assert one.ids == other.ids
            column = a.dialect.operations(a.kind).index("getattr")
            newer = b.dialect.operations(b.kind).index("getattr")
            assert (one.samples[:, column] == other.samples[:, newer]).all()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_truth_is_the_difference_of_consecutive_snapshots(dialect):
    cluster = Cluster(Options(dialects=(dialect,), faults=NO_FAULTS))
    reader = Reader()
    for number, observation in enumerate(cluster.observe(NOON, 1.0)):
        found = reader.read(observation.snapshots)
        assert truth(cluster, observation) == (found if number else Counter())


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_truth_is_what_a_careful_reader_finds_with_all_faults_on(seed):
    mixed = ("2.12", "2.15.0", "2.16")
    cluster = Cluster(Options(seed=seed, dialects=mixed, faults=frozenset(FAULTS)))
    reader, found, true = Reader(), Counter(), Counter()
    for number, observation in enumerate(cluster.observe(NOON, 2.0)):
        increments = reader.read(observation.snapshots)
        found += increments if number else Counter()
        true += truth(cluster, observation)
        unseen = observation
    # What the very last read left out would have been found in the next one.
    told = {(f["target"], i) for f in cluster.faults_told() if f["fault"] == "skipped"
            and f["time"] == f"{datetime.fromtimestamp(unseen.time_ns / 1e9, UTC):%FT%TZ}"
            for i in f["ids"]}  # fmt: skip
    missing = {(target, raw.decode("latin-1")) for target, raw, _ in true - found}
    assert missing <= told
    assert not found - true


def test_faults_in_ids_and_reads_change_nothing_that_happens():
    quiet, loud = (
        Cluster(Options(faults=faults))
        for faults in (NO_FAULTS, frozenset({"missing-job", "qualified", "mangled"}))
    )
    for a, b in zip(quiet.observe(NOON, 0.5), loud.observe(NOON, 0.5), strict=True):
        for kind in a.usage:
            assert a.usage[kind].increment.sum() == b.usage[kind].increment.sum()
        assert a.load.load.sum() == pytest.approx(b.load.load.sum())


def test_bytes_counts_and_histograms_belong_together():
    for snapshot in last(Cluster(Options(dialects=("2.16",))).run(NOON, 1.0)):
        operations = snapshot.dialect.operations(snapshot.kind)
        for table in snapshot.tables:
            assert table.histograms is not None
            for which, name in enumerate(BYTES_OPERATIONS):
                c = operations.index(name)
                assert (table.histograms[:, which].sum(axis=1) == table.samples[:, c]).all()
                one = table.samples[:, c] == 1
                assert (table.total[one, c] == table.maximum[one, c]).all()
                assert (table.total[one, c] ** 2 == table.sumsq[one, c]).all()


@pytest.mark.parametrize("dialect", ["2.12", "2.14", "2.17"])
def test_minimum_mean_and_maximum_are_in_order_and_squares_fit(dialect):
    measured = 0
    for snapshot in last(Cluster(Options(dialects=(dialect,))).run(NOON, 1.0)):
        for table in snapshot.tables:
            n, total = table.samples.astype(float), table.total.astype(float)
            low, high = table.minimum.astype(float), table.maximum.astype(float)
            assert (low <= high).all()
            assert (n * low <= total).all()
            assert (total <= n * high).all()
            known = (total > 0) & (high < 2**31)
            measured += int(known.sum())
            squares = table.sumsq.astype(float)
            small = known & (n * high * high < 2**63)
            assert (squares[small] * n[small] >= total[small] ** 2 * (1 - 1e-9)).all()
            assert not table.total[table.samples == 0].any()
    assert measured > 100


def test_without_service_times_only_bytes_are_measured():
    for snapshot in last(Cluster(Options(dialects=("2.12",))).run(NOON, 0.5)):
        operations = snapshot.dialect.operations(snapshot.kind)
        plain = [i for i, op in enumerate(operations) if op not in BYTES_OPERATIONS]
        assert not any(table.total[:, plain].any() for table in snapshot.tables)


def test_parts_of_rename_are_parts_of_it():
    table = by_name(last(Cluster(Options(dialects=("2.16",))).run(NOON, 2.0)))["mds1"].tables[0]
    of = dict(zip(DIALECTS["2.16"].mdt_operations, table.samples.T, strict=True))
    assert of["rename"].sum() > 0
    assert (of["samedir_rename"] + of["crossdir_rename"] == of["rename"]).all()
    assert (of["parallel_rename_file"] <= of["rename"]).all()


def test_requests_and_their_bytes_are_counted_alike():
    oss = by_name(last(Cluster(Options(dialects=("2.15",))).run(NOON, 0.5)))["oss1"]
    of = {op: oss.tables[0].samples[:, i] for i, op in enumerate(oss.dialect.ost_operations)}
    assert (of["read"] == of["read_bytes"]).all()
    assert (of["write"] == of["write_bytes"]).all()


def test_times_of_an_entry_are_in_order_and_in_the_past():
    for snapshots in Cluster(Options()).run(NOON, 0.5):
        for snapshot in snapshots:
            for table in snapshot.tables:
                assert (table.start_ns <= table.snapshot_ns).all()
                assert (table.snapshot_ns <= snapshot.time_ns).all()
                assert (table.start_ns >= snapshot.boot_ns).all()
                # Insertion order.
                assert (
                    np.diff(table.start_ns[table.start_ns > snapshot.time_ns - 120e9]) >= 0
                ).all()


def test_idle_entries_go_after_the_cleanup_interval_and_come_back_from_zero():
    seen: dict[tuple[str, bytes], int] = {}
    oldest, reborn = 0.0, 0
    for snapshots in Cluster(Options(cleanup_interval_s=300)).run(NOON, 2.0):
        for snapshot in snapshots:
            for table in snapshot.tables:
                idle = (snapshot.time_ns - table.snapshot_ns) / 1e9
                oldest = max(oldest, float(idle.max(initial=0.0)))
                for raw, start in zip(table.ids, table.start_ns.tolist(), strict=True):
                    reborn += seen.get((table.target, raw), start) != start
                    seen[table.target, raw] = start
    assert 300 < oldest < 300 + 150 + 2 * 120
    assert reborn > 10


def test_with_an_interval_of_zero_no_entry_ever_goes():
    known: dict[str, list[bytes]] = {}
    for snapshots in Cluster(Options(cleanup_interval_s=0)).run(NOON, 1.0):
        for snapshot in snapshots:
            for table in snapshot.tables:
                before = known.get(table.target, [])
                assert table.ids[: len(before)] == before
                known[table.target] = table.ids


def test_totals_hold_what_entries_do_not():
    cluster = Cluster(Options(cleanup_interval_s=0))
    share = []
    for snapshot in last(cluster.run(NOON, 0.5)):
        for table, totals in zip(snapshot.tables, snapshot.totals, strict=True):
            entries = table.samples.sum(axis=0)
            assert (totals.samples >= entries).all()
            share.append(entries.sum() / max(1, totals.samples.sum()))
    # Nothing was removed: what is left is requests of processes without an id.
    assert 0.7 < min(share[:1]) < 1.0


def test_clients_add_up_to_their_target():
    cluster = Cluster(Options(exports=True, cleanup_interval_s=0, faults=NO_FAULTS))
    for snapshot in last(cluster.run(NOON, 0.3)):
        for table, totals, exports in zip(
            snapshot.tables, snapshot.totals, snapshot.exports, strict=True
        ):
            assert (exports.samples.sum(axis=0) == table.samples.sum(axis=0)).all()
            assert (exports.samples.sum(axis=0) <= totals.samples).all()
            assert len(set(exports.nids)) == len(exports.nids)


def test_latency_and_load_grow_when_a_server_is_flooded():
    storm = Request("metadata_storm", start=0.0, duration_s=3600.0, factor=12.0)

    def mds(*incidents):
        options = Options(dialects=("2.15",), incidents=incidents, cleanup_interval_s=0)
        snapshot = by_name(last(Cluster(options).run(NOON, 0.5)))["mds1"]
        column = snapshot.dialect.mdt_operations.index("getattr")
        totals = snapshot.totals[0]
        return snapshot.host.loadavg[0], totals.total[column] / totals.samples[column]

    (calm, fast), (stormy, slow) = mds(), mds(storm)
    assert slow > 1.5 * fast
    assert stormy > 3 * calm


def test_true_load_is_that_of_the_servers():
    cluster = Cluster(Options())
    sums = []
    for observation in cluster.observe(NOON, 1.0):
        by_server = np.bincount(observation.load.server, observation.load.load, 3)
        sums.append((by_server, [s.host.loadavg[0] for s in observation.snapshots]))
    true = np.mean([a for a, _ in sums[1:]], axis=0)
    shown = np.mean([b for _, b in sums[1:]], axis=0)
    assert true == pytest.approx(shown, rel=0.25)
    accounts = cluster.world.staging.origins.accounts
    assert all(-1 <= a < len(accounts) for a in observation.load.account)


def test_long_intervals_pass_in_short_steps_and_lose_nothing():
    cluster = Cluster(Options(faults=NO_FAULTS))
    reader = Reader()
    for number, observation in enumerate(cluster.observe(NOON, 1.0, 300.0)):
        found = reader.read(observation.snapshots)
        assert truth(cluster, observation) == (found if number else Counter())


def test_servers_take_dialects_in_turn():
    snapshots = next(Cluster(Options(dialects=("2.12", "2.16"))).run())
    assert [s.dialect.name for s in snapshots] == ["2.12", "2.16", "2.12"]


def test_a_wrong_dialect_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match=r"9\.9.*2\.12"):
        Cluster(Options(dialects=("9.9",)))


def test_operations_are_those_of_the_dialect():
    for snapshot in next(Cluster(Options(dialects=(OLDEST,))).run()):
        width = len(snapshot.dialect.operations(snapshot.kind))
        assert all(t.samples.shape == (len(t.ids), width) for t in snapshot.tables)
        assert width < len(OPERATIONS[snapshot.kind])
