"""What a whole server prints: golden files for each dialect, lctl's rules, and the way back."""

import os
from pathlib import Path

import pytest

from pfscope.lab.dialects import DIALECTS, KINDS, Kind
from pfscope.lab.text import param_text, server_files, server_sections, server_text
from pfscope.lustre.brw_stats import parse_brw_stats
from pfscope.lustre.host import parse_loadavg, parse_meminfo, parse_stat, parse_uptime
from pfscope.lustre.names import parameter_of_path
from pfscope.lustre.params import iter_parameters, parse_integer
from pfscope.lustre.recovery import parse_recovery_status
from pfscope.lustre.stats import parse_stats
from tests.support.lab_snapshots import BOOT_NS, HOST, NOW_NS, server_snapshot

GOLDEN = Path(__file__).parents[1] / "golden" / "lab_text"
REWRITE = "PFSCOPE_REWRITE_GOLDEN"
BOTH = [(name, kind) for name in DIALECTS for kind in KINDS]


@pytest.mark.parametrize(("name", "kind"), BOTH)
def test_a_server_prints_the_golden_file(name: str, kind: Kind) -> None:
    text = server_text(DIALECTS[name], server_snapshot(DIALECTS[name], kind))
    golden = GOLDEN / f"{name}-{kind}.txt"
    if REWRITE in os.environ:
        golden.write_bytes(text)
    assert text == golden.read_bytes()


@pytest.mark.parametrize(("name", "kind"), BOTH)
def test_lctl_output_splits_into_what_was_printed(name: str, kind: Kind) -> None:
    dialect = DIALECTS[name]
    snapshot = server_snapshot(dialect, kind)
    found = [(p.name, p.value) for p in iter_parameters(server_text(dialect, snapshot))]
    printed = [(n, v) for n, v in server_sections(dialect, snapshot) if not n.startswith("/")]
    if dialect.lctl != "lines-and-empty":
        printed = [(n, v) for n, v in printed if v]
    assert found == printed


@pytest.mark.parametrize(("name", "kind"), BOTH)
def test_every_path_leads_to_the_name(name: str, kind: Kind) -> None:
    dialect = DIALECTS[name]
    files = list(server_files(dialect, server_snapshot(dialect, kind)))
    assert [parameter_of_path(f.path) or f.path for f in files] == [f.name for f in files]
    assert len({f.path for f in files}) == len(files)


@pytest.mark.parametrize(("name", "kind"), BOTH)
def test_totals_come_back_from_stats(name: str, kind: Kind) -> None:
    dialect = DIALECTS[name]
    snapshot = server_snapshot(dialect, kind)
    values = dict(server_sections(dialect, snapshot))
    totals = snapshot.totals[0]
    leaf = "md_stats" if kind == "mdt" else "stats"
    folder = "mdt" if kind == "mdt" else "obdfilter"
    stats = parse_stats(values[f"{folder}.{totals.target}.{leaf}"])
    there = totals.samples > 0
    names = [n for n, yes in zip(dialect.operations(kind), there, strict=True) if yes]
    assert stats.names == names
    assert stats.samples.tolist() == totals.samples[there].tolist()
    assert stats.total[stats.measured].tolist() == totals.total[there][stats.measured].tolist()
    assert stats.measured.any() == (dialect.name not in {"2.7", "2.10"} or kind == "ost")
    now_ns = NOW_NS - BOOT_NS if dialect.times == "boot" else NOW_NS
    precision = 1000 if dialect.unpadded_clock else 1
    assert stats.snapshot_ns == now_ns // precision * precision
    assert not stats.defects


@pytest.mark.parametrize("name", DIALECTS)
def test_the_small_files_come_back(name: str) -> None:
    dialect = DIALECTS[name]
    snapshot = server_snapshot(dialect, "ost")
    values = dict(server_sections(dialect, snapshot))
    target = snapshot.totals[0].target
    assert parse_integer(values[f"obdfilter.{target}.num_exports"]) == 1031
    assert parse_integer(values[f"obdfilter.{target}.job_cleanup_interval"]) == 600
    assert parse_integer(values[f"obdfilter.{target}.filesfree"]) == 1 << 29
    assert parse_recovery_status(values[f"obdfilter.{target}.recovery_status"]).clients == (
        1031,
        1031,
    )
    waits = parse_stats(values["ost.OSS.ost_io.stats"])
    assert (waits.names, waits.total.tolist()) == (["req_waittime", "req_qdepth"], [3367224, 0])
    client = parse_stats(values[f"obdfilter.{target}.exports.10.1.0.2@o2ib.stats"])
    assert client.samples[0] == len(dialect.ost_operations)
    brw = parse_brw_stats(values[f"osd-ldiskfs.{target}.brw_stats"])
    in_sizes = brw.block == brw.blocks.index("disk I/O size")
    assert brw.bound[in_sizes].tolist() == [1 << n for n in range(10, 21)]
    assert brw.writes[in_sizes].tolist() == [1000] * 3 + [0] * 7 + [2000]
    in_pages = brw.block == brw.blocks.index("pages per bulk r/w")
    assert brw.writes[in_pages].tolist()[:1] == [3000]
    assert not brw.defects


def test_the_files_of_the_machine_come_back() -> None:
    snapshot = server_snapshot(DIALECTS["2.15"], "mdt")
    values = dict(server_sections(snapshot.dialect, snapshot))
    load = parse_loadavg(values["/proc/loadavg"])
    assert load is not None
    assert (load.one, load.running, load.processes) == (20.05, 3, 812)
    times = parse_stat(values["/proc/stat"])
    assert times is not None
    assert times.ticks.tolist()[:8] == list(HOST.cpu_ticks)
    assert times.cores.sum(axis=0).tolist() == times.ticks.tolist()
    assert times.boot_s == BOOT_NS // 10**9
    memory = parse_meminfo(values["/proc/meminfo"])
    assert memory is not None
    assert memory["MemTotal"] == HOST.memory_total_kib << 10
    assert parse_uptime(values["/proc/uptime"]) == (1896533.42, 900.0)
    assert values["/proc/sys/kernel/random/boot_id"].strip().decode() == snapshot.boot_id


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("2.12", "/proc/fs/lustre/obdfilter/scratch-OST0000/stats"),
        ("2.17", "/sys/kernel/debug/lustre/obdfilter/scratch-OST0000/stats"),
        ("2.17", "/proc/fs/lustre/obdfilter/scratch-OST0000/job_stats"),
        ("2.12", "/proc/fs/lustre/obdfilter/scratch-OST0000/num_exports"),
        ("2.15", "/sys/fs/lustre/obdfilter/scratch-OST0000/num_exports"),
    ],
)
def test_each_release_keeps_its_files_where_it_does(name: str, where: str) -> None:
    dialect = DIALECTS[name]
    assert where in {f.path for f in server_files(dialect, server_snapshot(dialect, "ost"))}


@pytest.mark.parametrize(
    ("release", "value", "printed"),
    [
        ("2.12", b"7\n", b"a.b=7\n"),
        ("2.12", b"one\ntwo\n", b"a.b=\none\ntwo\n"),
        ("2.12", b"x" * 75 + b"\n", b"a.b=" + b"x" * 75 + b"\n"),
        ("2.12", b"x" * 76 + b"\n", b"a.b=\n" + b"x" * 76 + b"\n"),
        ("2.16", b"x" * 76 + b"\n", b"a.b=" + b"x" * 76 + b"\n"),
        ("2.12", b"", b""),
        ("2.16", b"", b""),
        ("2.17", b"", b"a.b=\n"),
    ],
)
def test_lctl_puts_short_values_on_the_line_of_the_name(
    release: str, value: bytes, printed: bytes
) -> None:
    assert param_text(DIALECTS[release], "a.b", value) == printed
