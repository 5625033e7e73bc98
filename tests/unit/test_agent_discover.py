"""What the agent finds on a server: its role, its targets, its files under Lustre's names."""

import os

import pytest

from pfscope.agent.collect import Collector
from pfscope.agent.discover import discover
from pfscope.agent.parameters import DEFAULT_GROUPS, GROUPS
from pfscope.frames import FrameBuilder, Origin, decode
from tests.support.lustre_tree import BOOT_ID, HOST, JOB_STATS, MDS, OSS, write_lctl, write_tree


def collected(collector):
    builder = FrameBuilder()
    problems = collector.collect(builder)
    frame = decode(builder.finish(Origin("s", "e", 0, 0)))
    return {section.name: section.text.decode() for section in frame.sections()}, problems


@pytest.mark.parametrize(
    ("parts", "role", "targets"),
    [
        ((MDS, HOST), "MDS", ("scratch-MDT0000",)),
        ((OSS, HOST), "OSS", ("scratch-OST0000",)),
        ((MDS, OSS), "MDS and OSS", ("scratch-MDT0000", "scratch-OST0000")),
        ((HOST,), "no Lustre server", ()),
        ((), "no Lustre server", ()),
        (({"proc/fs/lustre/llite/scratch-ffff/stats": ""},), "no Lustre server", ()),
    ],
)
def test_roles(tmp_path, parts, role, targets):
    found = discover(write_tree(tmp_path, *parts), DEFAULT_GROUPS)
    assert (found.role, found.targets) == (role, targets)
    assert found.filesystems == (("scratch",) if targets else ())


def test_files_get_the_names_that_lctl_gives_them(tmp_path):
    found = discover(write_tree(tmp_path, MDS, OSS, HOST), GROUPS)
    assert {source.name for source in found.sources} == {
        "mdt.scratch-MDT0000.job_stats",
        "mdt.scratch-MDT0000.md_stats",
        "mdt.scratch-MDT0000.exports.10.0.0.1@o2ib.stats",
        "mdt.scratch-MDT0000.job_cleanup_interval",
        "mdt.scratch-MDT0000.num_exports",
        "ldlm.namespaces.mdt-scratch-MDT0000_UUID.lock_count",
        "ldlm.namespaces.mdt-scratch-MDT0000_UUID.pool.granted",
        "mds.MDS.mdt.stats",
        "obdfilter.scratch-OST0000.job_stats",
        "obdfilter.scratch-OST0000.job_cleanup_interval",
        "obdfilter.scratch-OST0000.stats",
        "osd-ldiskfs.scratch-OST0000.brw_stats",
        "ost.OSS.ost_io.threads_started",
        "/proc/loadavg",
        "/proc/stat",
    }


def test_only_the_groups_asked_for(tmp_path):
    root = write_tree(tmp_path, MDS, HOST)
    names = [source.name for source in discover(root, ["jobs"]).sources]
    assert names == ["mdt.scratch-MDT0000.job_stats", "mdt.scratch-MDT0000.job_cleanup_interval"]
    assert not [s for s in discover(root, DEFAULT_GROUPS).sources if "exports." in s.name]


def test_a_file_in_two_places_is_read_once(tmp_path):
    double = {"proc/fs/lustre/mdt/scratch-MDT0000/num_exports": "12\n"}
    found = discover(write_tree(tmp_path, MDS, double), DEFAULT_GROUPS)
    assert [s.name for s in found.sources].count("mdt.scratch-MDT0000.num_exports") == 1


def test_texts_come_as_they_are(tmp_path):
    texts, problems = collected(Collector(write_tree(tmp_path, MDS, HOST), DEFAULT_GROUPS))
    assert texts["mdt.scratch-MDT0000.job_stats"] == JOB_STATS
    assert texts["/proc/loadavg"] == HOST["proc/loadavg"]
    assert problems == []


def test_large_texts_come_whole(tmp_path):
    large = {"proc/fs/lustre/mdt/scratch-MDT0000/job_stats": JOB_STATS * 20_000}
    texts, _problems = collected(Collector(write_tree(tmp_path, MDS, large), ["jobs"]))
    assert texts["mdt.scratch-MDT0000.job_stats"] == JOB_STATS * 20_000


def test_a_frame_has_a_limit_and_says_what_did_not_fit(tmp_path):
    root = write_tree(tmp_path, MDS, HOST)
    noise = os.urandom(1 << 20)
    (tmp_path / "proc/fs/lustre/mdt/scratch-MDT0000/job_stats").write_bytes(noise)
    collector = Collector(root, ["jobs", "host"], frame_limit=200_000)
    builder = FrameBuilder()
    problems = collector.collect(builder)
    assert builder.size_bytes < 400_000
    assert ("mdt.scratch-MDT0000.job_stats", "the frame is full") in problems
    assert ("/proc/loadavg", "the frame is full") in problems


def test_what_cannot_be_read_is_noted_and_the_rest_is_collected(tmp_path):
    root = write_tree(tmp_path, MDS, HOST)
    collector = Collector(root, DEFAULT_GROUPS)
    (tmp_path / "proc/fs/lustre/mdt/scratch-MDT0000/md_stats").unlink()
    texts, problems = collected(collector)
    assert problems == [("mdt.scratch-MDT0000.md_stats", "No such file or directory")]
    assert "mdt.scratch-MDT0000.job_stats" in texts
    # What vanished is not asked for again.
    assert collected(collector)[1] == []


def test_a_target_that_comes_or_goes_is_met_at_the_next_collection(tmp_path):
    collector = Collector(write_tree(tmp_path, MDS), ["jobs"])
    write_tree(tmp_path, OSS)
    texts, problems = collected(collector)
    assert "obdfilter.scratch-OST0000.job_stats" in texts
    (tmp_path / "proc/fs/lustre/obdfilter").rename(tmp_path / "elsewhere")
    (tmp_path / "sys/kernel/debug/lustre/obdfilter").rename(tmp_path / "elsewhere2")
    texts, problems = collected(collector)
    assert "obdfilter.scratch-OST0000.job_stats" not in texts
    assert problems == []


def test_the_boot_id_and_the_cleanup_interval(tmp_path):
    collector = Collector(write_tree(tmp_path, MDS, OSS, HOST), DEFAULT_GROUPS)
    assert collector.boot_id() == BOOT_ID
    assert collector.cleanup_s == 600
    bare = Collector(str(tmp_path / "nowhere"), DEFAULT_GROUPS)
    assert (bare.boot_id(), bare.cleanup_s) == ("unknown", 0)


@pytest.mark.parametrize(("values", "shortest"), [("0 600", 600), ("600 300", 300), ("0 0", 0)])
def test_the_shortest_cleanup_interval_counts_and_zero_is_never(tmp_path, values, shortest):
    mdt, ost = values.split()
    files = {
        "proc/fs/lustre/mdt/s-MDT0000/job_cleanup_interval": mdt,
        "proc/fs/lustre/obdfilter/s-OST0000/job_cleanup_interval": ost,
    }
    assert Collector(write_tree(tmp_path, files), ["jobs"]).cleanup_s == shortest


def test_lctl_is_asked_where_there_are_no_files(tmp_path):
    write_lctl(tmp_path)
    collector = Collector(write_tree(tmp_path, HOST), DEFAULT_GROUPS)
    assert collector.found.role == "OSS"
    assert collector.found.targets == ("scratch-OST000a",)
    assert collector.cleanup_s == 600
    texts, problems = collected(collector)
    assert "obdfilter.scratch-OST000a.job_stats=job_stats:\n" in texts["lctl"]
    assert "/proc/loadavg" in texts
    assert problems == []


def test_files_go_before_lctl(tmp_path):
    write_lctl(tmp_path)
    assert discover(write_tree(tmp_path, MDS), ["jobs"]).lctl is None


def test_an_lctl_that_cannot_run_is_noted(tmp_path):
    collector = Collector(str(tmp_path), ["jobs"], lctl=str(tmp_path / "missing"))
    assert collected(collector)[1] == [("lctl", "No such file or directory")]


def test_names_that_could_forge_a_record_are_left_out(tmp_path):
    odd = {"proc/fs/lustre/ldlm/namespaces/a\nb/lock_count": "1"}
    texts, _problems = collected(Collector(write_tree(tmp_path, MDS, odd), DEFAULT_GROUPS))
    assert not [name for name in texts if "\n" in name]
