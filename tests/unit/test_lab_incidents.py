import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from pfscope.errors import InputError
from pfscope.lab.archetypes import BY_PEOPLE, OPERATIONS
from pfscope.lab.cluster import Cluster, Options
from pfscope.lab.incidents import Request, read, told

START = datetime(2022, 10, 27, 10, tzinfo=UTC)


def write(path, *incidents):
    path.write_text(json.dumps(list(incidents)))
    return path


@pytest.mark.parametrize("kind", [a.name for a in BY_PEOPLE])
def test_an_incident_adds_its_factor_times_what_is_normal(kind):
    cluster = Cluster(
        Options(incidents=(Request(kind, start=600.0, duration_s=1200.0, factor=8.0),))
    )
    seconds, sums = 0.0, {}
    for observation in cluster.observe(START, 0.6):
        staging = cluster.world.staging
        (incident,) = cluster.incidents
        job = str(staging.incident_jobs[0].raw_id)
        main = incident.archetype.main_kind
        usage = observation.usage[main]
        mine = np.array([o.job == job for o in staging.origins.all])[usage.origin]
        offset_s = observation.time_ns / 1e9 - START.timestamp()
        assert mine.any() == (600 < offset_s <= 1800)
        seconds += 120.0 * bool(mine.any())
        for operation in incident.archetype.main:
            chosen = mine & (usage.operation == OPERATIONS[main].index(operation))
            sums[operation] = sums.get(operation, 0) + int(usage.increment[chosen].sum())
    assert seconds == 1200.0
    for operation, total in sums.items():
        normal = sum(
            staging.tuning.normal(main, target).get(operation, 0.0) for target in incident.targets
        )
        assert total / seconds == pytest.approx(8.0 * normal, rel=0.15)


def test_what_is_asked_for_is_what_happens():
    site = Cluster().site
    wanted = Request(
        "hot_file", start="2022-10-27T10:10:00Z", duration_s=600, factor=5.0,
        targets=("OST0002",), user=site.users[3].uid, nodes=("r01c02", "r01c05"), executable="ior",
    )  # fmt: skip
    cluster = Cluster(Options(incidents=(wanted,)))
    for observation in cluster.observe(START, 0.5):
        staging = cluster.world.staging
        people = [staging.origins.all[o] for o in observation.usage["ost"].origin.tolist()]
        for origin, target in zip(people, observation.usage["ost"].target.tolist(), strict=True):
            if origin.executable == "ior":
                assert (origin.user, target) == (str(site.users[3].uid), 2)
                assert origin.node in ("r01c02", "r01c05")
    assert told(cluster.incidents[0], staging.incident_jobs[0], site) == {
        "id": 0, "kind": "hot_file", "start": "2022-10-27T10:10:00Z",
        "end": "2022-10-27T10:20:00Z", "user": str(site.users[3].uid),
        "job": str(staging.incident_jobs[0].raw_id), "nodes": ["r01c02", "r01c05"],
        "executable": "ior", "filesystem": "scratch", "targets": ["scratch-OST0002"],
        "operations": ["read_bytes"], "factor": 5.0,
    }  # fmt: skip


def test_an_incident_on_the_second_day_happens():
    cluster = Cluster(Options(incidents=(Request("stat_polling", start=90_000.0),)))
    steps = cluster.observe(START, 26.0, 3600.0)
    assert len(list(steps)) == 27
    job = cluster.world.staging.incident_jobs[0]
    assert datetime.fromtimestamp(job.start_s, UTC) == START + timedelta(seconds=90_000)


def test_a_file_of_incidents_is_read(tmp_path):
    path = write(
        tmp_path / "i.json",
        {"kind": "checkpoint", "start": 60, "duration_s": 30, "targets": ["OST0001"]},
        {"kind": "metadata-storm", "nodes": 2, "factor": 3},
    )
    first, second = read(path)
    assert first.kind == "periodic_checkpoint"
    assert first.targets == ("OST0001",)
    assert (second.kind, second.nodes, second.factor) == ("metadata_storm", 2, 3)


@pytest.mark.parametrize(
    ("incident", "reason"),
    [
        ({"kind": "flood"}, "no kind 'flood'.*metadata_storm"),
        ({"kind": "idle", "colour": 1}, "unknown key 'colour'"),
        ({"kind": "idle", "factor": -1}, "factor must be"),
        ({"kind": "idle", "duration_s": "long"}, "duration_s must be"),
        ({"kind": "idle", "start": "noon"}, "not a time"),
        ({"kind": "idle", "start": [1]}, "start must be"),
        ({"kind": "idle", "nodes": "r01c01"}, "nodes must be"),
        ({"kind": "idle", "targets": ["OST00ff"]}, "'OST00ff'"),
        ({"kind": "idle", "user": 12}, "user '12'"),
        ({"kind": "idle", "nodes": ["x1"]}, "node 'x1'"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, incident, reason):
    path = write(tmp_path / "i.json", incident)
    with pytest.raises(InputError, match=reason):
        next(Cluster(Options(incidents=read(path))).run())


@pytest.mark.parametrize("text", ["", "{}", "[1]", "\xff"])
def test_a_file_that_is_no_list_of_objects_is_refused(tmp_path, text):
    path = tmp_path / "i.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=r"i\.json"):
        read(path)
