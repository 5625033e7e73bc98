"""Real captures of other projects parse to the values listed beside them."""

import csv
import re
from collections import defaultdict
from pathlib import Path

import pytest

from pfscope.lustre.job_stats import parse_job_stats
from tests.support.flatten import entries_of

CAPTURES = Path(__file__).resolve().parents[3] / "shared" / "data" / "lustre"
pytestmark = pytest.mark.skipif(not CAPTURES.is_dir(), reason="the captures are not here")
HP_TREE = CAPTURES / "hp_lustre_exporter"


def hp_expected():
    """Return {(target, job): {(metric, operation): value}} of that project's expectations."""
    expected = defaultdict(dict)
    with (HP_TREE / "EXPECTED_METRICS.tsv").open() as file:
        for row in csv.DictReader(file, delimiter="\t"):
            labels = dict(pair.split("=", 1) for pair in row["labels"].split(",") if "=" in pair)
            if row["metric"].startswith("lustre_job_") and "jobid" in labels:
                key = row["metric"], labels.get("operation", "")
                expected[labels["target"], labels["jobid"]][key] = int(float(row["value"]))
    return expected


def hp_read():
    """Return the same of our reading."""
    read = defaultdict(dict)
    for path in HP_TREE.rglob("job_stats"):
        stats = parse_job_stats(path.read_bytes(), target=path.parent.name)
        assert not stats.defects
        for target, raw, _, counters in entries_of(stats):
            for operation, counter in counters.items():
                read[target, raw.decode()][operation] = counter
    return read


def test_hp_lustre_exporter():
    expected, read = hp_expected(), hp_read()
    assert len(expected) > 30
    metric = re.compile(r"lustre_job_(read|write)_(samples|minimum_size|maximum_size|bytes)")
    column = {"samples": 1, "minimum_size": 2, "maximum_size": 3, "bytes": 4}
    for key, metrics in expected.items():
        for (name, operation), value in metrics.items():
            if match := metric.match(name):
                counter = read[key].get(f"{match[1]}_bytes", ("bytes", 0, 0, 0, 0))
                assert counter[column[match[2]]] == value, (key, name)
            elif name == "lustre_job_stats_total":
                assert read[key].get(operation, ("reqs", 0))[1] == value, (key, operation)


def telegraf_expected(path):
    """Return {(job): {field: value}} from the lines that begin with lustre2,jobid=."""
    expected = {}
    for line in path.read_text().splitlines():
        if match := re.match(r"lustre2,jobid=([^,]+),name=\S+ (\S+)", line):
            fields = dict(pair.split("=") for pair in match[2].split(","))
            expected[match[1]] = {k: int(v.rstrip("u")) for k, v in fields.items()}
    return expected


TELEGRAF_NAMES = {
    "jobstats_ost_getattr": "getattr", "jobstats_ost_setattr": "setattr",
    "jobstats_ost_statfs": "statfs", "jobstats_ost_sync": "sync",
}  # fmt: skip


@pytest.mark.parametrize("case", ["v2.12", "v2.12_no_client_stats"])
def test_telegraf(case):
    folder = CAPTURES / "telegraf" / "testcases" / case
    expected = telegraf_expected(folder / "expected.out")
    assert len(expected) == 2
    by_kind = {}
    for kind in ("mdt", "obdfilter"):
        text = next((folder / "proc/fs/lustre" / kind).rglob("job_stats")).read_bytes()
        by_kind[kind] = {raw.decode(): c for _, raw, _, c in entries_of(parse_job_stats(text))}
    for job, fields in expected.items():
        ost, mdt = by_kind["obdfilter"][job], by_kind["mdt"][job]
        for field, value in fields.items():
            if match := re.match(r"jobstats_(read|write)_(calls|min_size|max_size|bytes)", field):
                column = {"calls": 1, "min_size": 2, "max_size": 3, "bytes": 4}[match[2]]
                assert ost[f"{match[1]}_bytes"][column] == value
            elif field in TELEGRAF_NAMES:
                assert ost.get(TELEGRAF_NAMES[field], ("", 0))[1] == value
            else:
                operation = field.removeprefix("jobstats_")
                assert (mdt | ost if operation not in mdt else mdt).get(operation, ("", 0))[
                    1
                ] == value


def test_texts_from_threads():
    read = {}
    for path in (CAPTURES / "threads").glob("*.txt"):
        rows = entries_of(parse_job_stats(path.read_bytes()))
        read[path.name] = {raw: counters for _, raw, _, counters in rows}
    assert read["gsi_issue26_kworker.txt"][b"kworker/86:1.0"]["set_info"][1] == 1
    assert read["gsi_issue46_2.16.1_quoted.txt"] == {b"bladejb:689.prometheus-node": {}}
    assert read["manual_ch12_30.txt"][b"mythbackend.0"]["sync"][1] == 33190
    assert read["manual_ch12_31.txt"][b"mythbackend.500"]["write"][4] == 56231
    assert read["telegraf_issue15185_ost_job_stats.txt"][b"815871"]["read_bytes"] == (
        "bytes", 937568, 4096, 4194304, 8039751680, 7499746432253952, [],
    )  # fmt: skip
    assert read["telegraf_lustre2_lctl_mdt_job_stats_called_v217.txt"][b"rsync_env.sh.30026"][
        "close"
    ] == ("usecs", 5051, 8, 1541, 236426, 19935112, [])
