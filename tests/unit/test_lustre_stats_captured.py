"""stats and brw_stats of real servers parse to the values that are listed beside them."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pfscope.lustre.brw_stats import parse_brw_stats
from pfscope.lustre.stats import Stats, parse_stats

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "lustre"
HP = DATA / "hp_lustre_exporter"
TELEGRAF = DATA / "telegraf/testcases/v2.12"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the captured files are not here")

Row = dict[str, str]
SUFFIXES = {"K": 10, "M": 20, "G": 30}


def first(stats: Stats, name: str) -> int:
    """Where a name occurs twice, the listed value is that of the first row."""
    return stats.names.index(name)


def hp_rows(metric: str) -> Iterator[tuple[Row, float]]:
    with (HP / "EXPECTED_METRICS.tsv").open(newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["metric"] == metric:
                labels = dict(pair.split("=", 1) for pair in row["labels"].split(","))
                yield labels, float(row["value"])


def hp_stats(labels: Row) -> Stats:
    folder, leaf = ("mdt", "md_stats") if labels["component"] == "mdt" else ("obdfilter", "stats")
    return parse_stats((HP / "proc/fs/lustre" / folder / labels["target"] / leaf).read_bytes())


def test_every_operation_count_listed_by_hp() -> None:
    rows = [row for row in hp_rows("lustre_stats_total") if row[0]["component"] in {"ost", "mdt"}]
    for labels, value in rows:
        stats = hp_stats(labels)
        assert int(stats.samples[first(stats, labels["operation"])]) == value, labels
    assert len(rows) > 20


@pytest.mark.parametrize(
    ("metric", "column"),
    [
        ("lustre_write_samples_total", "samples"),
        ("lustre_write_minimum_size_bytes", "minimum"),
        ("lustre_write_maximum_size_bytes", "maximum"),
        ("lustre_write_bytes_total", "total"),
    ],
)
def test_sizes_listed_by_hp(metric: str, column: str) -> None:
    rows = [row for row in hp_rows(metric) if row[0]["component"] == "ost"]
    for labels, value in rows:
        stats = hp_stats(labels)
        assert int(getattr(stats, column)[first(stats, "write_bytes")]) == value, labels
    assert rows


def telegraf_rows() -> Iterator[tuple[Row, dict[str, int]]]:
    for line in (TELEGRAF / "expected.out").read_text().splitlines():
        tags, fields = line.split(" ")[:2]
        labels = dict(tag.split("=", 1) for tag in tags.split(",")[1:])
        values = {k: int(v.rstrip("u")) for k, v in re.findall(r"(\w+)=(\d+u)", fields)}
        yield labels, values


def test_every_bucket_listed_by_telegraf() -> None:
    text = (TELEGRAF / "proc/fs/lustre/osd-ldiskfs/OST0001/brw_stats").read_bytes()
    stats = parse_brw_stats(text)
    names = [
        re.sub(r" \(.*", "", b).replace("/", "").lower().replace(" ", "_") for b in stats.blocks
    ]
    found = {
        (names[block], bound): (reads, writes)
        for block, bound, reads, writes in zip(
            *(c.tolist() for c in (stats.block, stats.bound, stats.reads, stats.writes)),
            strict=True,
        )
    }
    listed = {}
    for labels, values in telegraf_rows():
        if "brw_section" in labels:
            number, unit = re.fullmatch(r"(\d+)([KMG]?)", labels["bucket"]).groups()
            bound = int(number) << SUFFIXES.get(unit, 0)
            listed[labels["brw_section"], bound] = values["read_ios"], values["write_ios"]
    assert found == listed
    assert not stats.defects


def test_every_total_listed_by_telegraf() -> None:
    [values] = [v for labels, v in telegraf_rows() if list(labels) == ["name"] and "open" in v]
    parts = {
        leaf: parse_stats((TELEGRAF / "proc/fs/lustre" / leaf).read_bytes())
        for leaf in ("mdt/OST0001/md_stats", "obdfilter/OST0001/stats", "osd-ldiskfs/OST0001/stats")
    }
    metadata, objects, cache = parts.values()
    for name in ("open", "close", "getattr", "rename", "samedir_rename", "unlink"):
        assert int(metadata.samples[first(metadata, name)]) == values[name]
    for name in ("read", "write"):
        row = first(objects, f"{name}_bytes")
        calls, size = values[f"{name}_calls"], values[f"{name}_bytes"]
        assert (int(objects.samples[row]), int(objects.total[row])) == (calls, size)
    assert int(cache.total[first(cache, "cache_miss")]) == values["cache_miss"]
    assert objects.snapshot_ns == 1438693064_430544000
    assert not any(stats.defects for stats in parts.values())


@pytest.mark.parametrize(
    "path",
    [
        "datadog/oss_obdfilter_stats.txt",
        "datadog/mds_mdt_stats.txt",
        "datadog/oss_ost_stats.txt",
        "datadog/all_ldlm_services_stats.txt",
        "datadog/all_ldlm_namespace_stats.txt",
        "threads/telegraf_lustre2_lctl_md_stats_called_v217.txt",
    ],
)
def test_newer_captures_parse_without_defects(path: str) -> None:
    text = (DATA / path).read_bytes()
    stats = parse_stats(text)
    assert len(stats.names) == text.count(b" samples ")
    assert 0 < stats.start_ns < stats.snapshot_ns or stats.since_boot
    assert not stats.defects
