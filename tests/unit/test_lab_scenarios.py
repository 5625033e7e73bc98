"""Stories of the laboratory: who, what and when are known, and the same again and again."""

import json

import numpy as np
import pytest

from pfscope.cli.main import main
from pfscope.lab.archetypes import OPERATIONS
from pfscope.lab.cluster import DEFAULT_START, Cluster
from pfscope.lab.faults import Event
from pfscope.lab.scenarios import SCENARIOS, story
from pfscope.lab.tables import ServerSnapshot

NOBODY = {
    "checkpoint", "failover", "reset-storm", "agent-outage", "malformed-burst", "daily-rhythm",
    "quiet",
}  # fmt: skip


@pytest.mark.parametrize("preset", ["mini", "puhti"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_each_can_be_told_on_each_site(name, preset):
    told = story(name, preset, 5)
    assert told == story(name, preset, 5)
    assert bool(told.troubles) == (name not in NOBODY)
    site = Cluster(told.options).site
    users = {str(user.uid) for user in site.users}
    for trouble in told.troubles:
        assert trouble.user in users
        assert trouble.start_s <= trouble.due_s < trouble.end_s <= told.hours * 3600
        assert set(trouble.targets) <= {*site.mdts, *site.osts}


def test_another_seed_is_another_story():
    one, other = (story("hot-ost", "mini", seed).troubles for seed in (5, 6))
    assert [t.start_s for t in one] != [t.start_s for t in other]


def test_troubles_are_large_enough_to_be_found():
    for name in SCENARIOS:
        told = story(name, "mini", 5)
        for trouble in told.troubles:
            factors = [
                r.factor for r in told.options.incidents
                if r.user == trouble.user and trouble.start_s <= r.start <= trouble.due_s
            ]  # fmt: skip
            assert sum(factors) >= 5.0 - 1e-9


def carried(usage):
    """Return all bytes; other operations are not printed by every release."""
    wanted = [OPERATIONS["ost"].index(name) for name in ("read_bytes", "write_bytes")]
    return int(usage.increment[np.isin(usage.operation, wanted)].sum())


def test_what_is_done_is_the_same_where_nobody_looks_on():
    options = story("hot-ost", "mini", 5).options
    seen = [o.usage for o in Cluster(options).observe(hours=1)][1:]
    unseen = list(Cluster(options).usage(hours=1))
    start_ns = int(DEFAULT_START.timestamp()) * 10**9
    assert [time for time, _ in unseen] == [
        start_ns + 120 * 10**9 * n for n in range(1, len(seen) + 1)
    ]
    for one, (_, other) in zip(seen, unseen, strict=True):
        amounts = [carried(usage["ost"]) for usage in (one, other)]
        assert amounts[0] == amounts[1] > 0


def test_faults_happen_when_they_are_asked_for():
    options = story("agent-outage", "mini", 5).options
    (first, *_) = options.events
    at = Event("agent-outage", 2, first.server, amount=3)
    cluster = Cluster(type(options)(events=(at,)))
    silent = cluster.site.servers[at.server].name
    steps: list[list[ServerSnapshot]] = list(cluster.run(hours=0.3))
    there = [silent in {s.server for s in snapshots} for snapshots in steps]
    assert there == [True] * 3 + [False] * 3 + [True] * (len(steps) - 6)
    assert [told["fault"] for told in cluster.told_faults] == ["agent-outage"]


def test_a_dump_tells_what_should_be_said_of_it(tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["lab", "dump", str(out), "--scenario", "slow-ramp", "--hours", "0.1"]) == 0
    truth = json.loads((out / "truth" / "scenario.json").read_text())
    assert truth == {"scenario": "slow-ramp", "expected": "the user", "troubles": []}
    assert main(["lab", "scenarios", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == list(SCENARIOS)


@pytest.mark.parametrize(
    "arguments", [("--scenario", "none"), ("--scenario", "quiet", "--interval", "60")]
)
def test_what_makes_no_sense_is_told(tmp_path, arguments, capsys):
    assert main(["lab", "dump", str(tmp_path / "out"), *arguments]) == 2
    assert "scenario" in capsys.readouterr().err
