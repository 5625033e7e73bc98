import re
from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import pytest

from pfscope.errors import UsageError
from pfscope.lab.cluster import Cluster, Options
from pfscope.lab.faults import FAULTS, Mangler, parse_faults
from pfscope.lab.side import Usage
from pfscope.lab.site import make_site
from pfscope.lab.sources import Ids, Origin, Origins

MORNING = datetime(2022, 10, 27, 6, tzinfo=UTC)
PER_SNAPSHOT = {
    # Counts over 113 snapshots of Puhti: users' entries, and those of system users.
    "mdt": {"login": 487, "job": 1288, "no job": 186, "utility": 53,
            "system login": 54, "system job": 327, "system no job": 746},
    "ost": {"login": 2403, "job": 9967, "no job": 1656, "utility": 86, "qualified": 24,
            "system login": 89, "system no job": 5400, "cut": 133},
}  # fmt: skip


def form(raw: bytes) -> str:
    found = re.fullmatch(rb"(\d*):(\d{8}|0|450):([a-z][\w-]*)(\.bullx)?", raw)
    if found:
        system = "system " if len(found[2]) < 8 else ""
        if found[3].startswith(b"puhti"):
            return "utility"
        return "qualified" if found[4] else system + ("job" if found[1] else "no job")
    found = re.fullmatch(rb"[a-z][\w.+-]*\.(\d{8}|0)", raw)
    if found:
        return "system login" if found[1] == b"0" else "login"
    return "cut"


def snapshots(*faults, hours=1.0, **options):
    return list(Cluster(Options(faults=frozenset(faults), **options)).run(MORNING, hours))


def ids(observations, kind):
    return {i for o in observations for s in o if s.kind == kind for t in s.tables for i in t.ids}


def test_forms_stand_in_the_proportions_of_a_real_site():
    counts = {"mdt": Counter(), "ost": Counter()}
    observations = list(Cluster(Options(preset="puhti")).run(MORNING, 1.2))
    for snapshot in (s for o in observations[::4] for s in o):
        for table in snapshot.tables:
            counts[snapshot.kind].update(map(form, table.ids))
    times = len(observations[::4])
    assert 20_000 < sum(sum(c.values()) for c in counts.values()) / times < 27_000
    for kind, wanted in PER_SNAPSHOT.items():
        for name, count in wanted.items():
            rare = name in ("qualified", "cut")
            assert counts[kind][name] / times == pytest.approx(count, rel=1.0 if rare else 0.35)


def test_without_faults_every_id_is_sound():
    quiet = snapshots()
    forms = {form(raw) for kind in ("mdt", "ost") for raw in ids(quiet, kind)}
    assert forms <= {"job", "login", "system job", "system no job", "system login", "no job"}
    users = [r for r in ids(quiet, "ost") if form(r) == "no job"]
    assert all(raw.endswith(b"mini-ood1-production") for raw in users)


def test_a_missing_job_leaves_user_and_node():
    leaky = [raw for raw in ids(snapshots("missing-job"), "mdt") if raw.startswith(b":")]
    assert any(re.fullmatch(rb":\d{8}:r01[cg]\d\d", raw) for raw in leaky)


def test_hosts_are_qualified_on_osts_only():
    puhti = snapshots("qualified", preset="puhti", hours=0.1)
    assert any(raw.endswith(b".bullx") for raw in ids(puhti, "ost"))
    assert not any(raw.endswith(b".bullx") for raw in ids(puhti, "mdt"))


def test_ids_are_mangled_on_osts_only_in_the_known_shapes():
    puhti = snapshots("mangled", preset="puhti", hours=0.3)
    assert not any(form(raw) == "cut" for raw in ids(puhti, "mdt"))
    known = {raw for raw in ids(puhti, "ost") if form(raw) == "cut"}
    shapes = {rb"\d{8}", rb"\d{8}:", rb"\d{8}:\d{8}", rb"\d{8}:\d{8}:", rb"\d{9}"}
    assert all(any(re.fullmatch(shape, raw) for raw in known) for shape in shapes)


def test_many_more_ids_are_mangled_in_a_burst():
    rng = np.random.default_rng(3)
    numbers, origins = Ids(), Origins()
    entry_id = numbers.numbers(b"11317854:17627127:r01c%02d" % node for node in range(90))
    origin = origins.add(Origin("11317854", "17627127", f"r01c{n:02d}", "a") for n in range(90))
    mangler = Mangler(make_site("puhti", rng), numbers, origins, rng)
    mangler.new_day(0.0, 86_400.0)
    burst = mangler.bursts[0][0]

    def mangled(begin_s):
        before = mangler.count
        for _ in range(50):
            mangler.mangle(entry_id, origin, begin_s, begin_s + 60.0)
        return mangler.count - before

    always, now = mangled(-1000.0), mangled(burst)
    assert 0 < 5 * always < now


def test_truth_knows_who_is_behind_a_mangled_id():
    cluster = Cluster(Options(preset="puhti", faults=frozenset({"mangled"})))
    seen = 0
    for observation in cluster.observe(MORNING, 0.2):
        staging, usage = cluster.world.staging, observation.usage["ost"]
        assert isinstance(usage, Usage)
        rows = zip(usage.entry_id.tolist(), usage.origin.tolist(), strict=True)
        for raw, origin in ((staging.ids.raw[i], staging.origins.all[o]) for i, o in rows):
            if re.fullmatch(rb"\d{8}:(\d{8}:?)?", raw):
                seen += 1
                assert raw.split(b":")[0].decode() == origin.job
                assert origin.node
    assert seen > 0


def test_skipped_entries_are_back_in_the_next_read_unchanged_or_larger():
    run = snapshots("skipped", hours=3.0)
    skips = 0
    for before, now, after in zip(run, run[1:], run[2:], strict=False):
        for a, b, c in zip(before, now, after, strict=True):
            for x, y, z in zip(a.tables, b.tables, c.tables, strict=True):
                old = dict(zip(x.ids, zip(x.start_ns, x.samples, strict=True), strict=True))
                new = dict(zip(z.ids, zip(z.start_ns, z.samples, strict=True), strict=True))
                for raw in set(old) & set(new) - set(y.ids):
                    if old[raw][0] == new[raw][0]:
                        skips += 1
                        assert (new[raw][1] >= old[raw][1]).all()
    assert skips > 0


def test_repeated_entries_are_repeated_in_old_releases_only():
    def repeats(dialect):
        run = snapshots("repeated", hours=3.0, dialects=(dialect,))
        return sum(len(t.ids) - len(set(t.ids)) for o in run for s in o for t in s.tables)

    assert repeats("2.15") > 0
    assert repeats("2.16") == 0


def test_a_reboot_brings_a_new_boot_id_and_counters_from_zero():
    cluster = Cluster(Options(faults=frozenset({"reboot"})))
    run = list(cluster.run(MORNING, 2.0))
    (told,) = [f for f in cluster.faults_told() if f["fault"] == "reboot"]
    mine = [next((s for s in o if s.server == told["server"]), None) for o in run]
    gone = [i for i, snapshot in enumerate(mine) if snapshot is None]
    assert gone
    before, after = mine[gone[0] - 1], mine[gone[-1] + 1]
    assert before.boot_id != after.boot_id
    assert after.boot_ns > before.time_ns
    assert after.host.uptime_s < 300
    for old, new in zip(before.totals, after.totals, strict=True):
        assert new.samples.sum() < old.samples.sum()
        assert new.start_ns >= after.boot_ns
    assert all((t.start_ns >= after.boot_ns).all() for t in after.tables)
    assert len({s.boot_id for s in mine if s}) == 2


def test_a_target_fails_over_and_comes_back_with_counters_from_zero():
    cluster = Cluster(Options(faults=frozenset({"failover"})))
    run = list(cluster.run(MORNING, 2.0))
    away, back = [f for f in cluster.faults_told() if f["fault"] == "failover"]
    assert (away["target"], away["server"], away["to"]) == (
        back["target"], back["to"], back["server"],
    )  # fmt: skip
    where = [s.server for o in run for s in o for t in s.tables if t.target == away["target"]]
    assert len(where) == len(run)
    changes = [pair for pair in pairwise(where) if pair[0] != pair[1]]
    assert changes == [(away["server"], away["to"]), (back["server"], back["to"])]
    starts = [t.start_ns for o in run for s in o for t in s.totals if t.target == away["target"]]
    assert len(set(starts)) == 3


def test_clocks_step_forward_and_back_and_uptime_does_not():
    cluster = Cluster(Options(faults=frozenset({"clock-step"})))
    run = list(cluster.run(MORNING, 2.0))
    steps = {f["server"]: f["seconds"] for f in cluster.faults_told()}
    assert min(steps.values()) < -30
    assert max(steps.values()) > 30
    for snapshot in run[-1]:
        off_s = (snapshot.time_ns - snapshot.true_time_ns) / 1e9
        assert off_s == pytest.approx(steps.get(snapshot.server, 0.0), abs=0.01)
        first = next(s for s in run[0] if s.server == snapshot.server)
        assert snapshot.host.uptime_s - first.host.uptime_s == pytest.approx(7200.0)


def test_an_agent_outage_is_short_and_loses_no_counter():
    cluster = Cluster(Options(faults=frozenset({"agent-outage"})))
    run = list(cluster.run(MORNING, 2.0))
    (told,) = cluster.faults_told()
    there = [any(s.server == told["server"] for s in o) for o in run]
    assert there.count(False) == told["missing"]
    assert (told["missing"] + 1) * 120 <= 600
    assert len({s.boot_id for o in run for s in o if s.server == told["server"]}) == 1


def test_hostile_ids_are_cut_and_forge_no_record():
    raws = ids(snapshots("hostile", hours=2.0), "ost")
    assert max(map(len, raws)) == 31
    assert {b"null", b"0777", b"- job_id: x", b"\x1b[31mred\x1b[0m."[:5]} & {r[:11] for r in raws}
    assert any(b"\xff" in raw for raw in raws)
    assert not any(b"\n" in raw or b"\0" in raw for raw in raws)


def test_in_a_short_run_no_fault_hides_what_another_one_loses():
    for seed in range(20):
        cluster = Cluster(Options(seed=seed, faults=frozenset(FAULTS)))
        for _ in cluster.run(MORNING, 0.4):
            pass
        told = [f for f in cluster.faults_told() if f["fault"] in ("reboot", "failover")]
        out = [f for f in cluster.faults_told() if f["fault"] == "agent-outage"]
        assert all(not o["time"] <= f["time"] < o["until"] for f in told for o in out)


@pytest.mark.parametrize(
    ("text", "faults"),
    [("none", set()), ("all", set(FAULTS)), ("reboot, hostile", {"reboot", "hostile"})],
)
def test_faults_are_asked_for_by_name(text, faults):
    assert parse_faults(text) == faults


def test_an_unknown_fault_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match=r"'flood'.*failover"):
        parse_faults("reboot,flood")
