"""`pfscope frames`: what people and pipes see of frame logs."""

import csv
import gzip
import io
import json
import subprocess
import sys

import pyarrow
import pytest

from pfscope.frames import FrameLog, Section, iter_frames
from tests.support.frame_samples import SECTIONS, WALL_NS, encoded

PFSCOPE = (sys.executable, "-m", "pfscope.cli.main")
STATS = (
    b"job_stats:\n- job_id:          4242:1000:r01c01\n  snapshot_time:   1322494486\n"
    b"  open:            { samples:           7, unit:  reqs }\n"
)


def pfscope(*arguments, stdin=None):
    command = [*PFSCOPE, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=60, input=stdin)


@pytest.fixture
def logs(tmp_path):
    """Two servers' logs with two frames each."""
    for server in ("mds1", "oss1"):
        with FrameLog(str(tmp_path / "logs" / server)) as log:
            for i in range(2):
                log.append(encoded(i, server=server, wall_ns=WALL_NS + 60 * 10**9 * i))
    return tmp_path / "logs"


def test_ls_lists_every_frame(logs):
    done = pfscope("frames", "ls", logs, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    size = str(len(encoded(0)))
    assert [(r["server"], r["sequence"], r["offset"]) for r in rows] == [
        ("mds1", "0", "0"), ("mds1", "1", size), ("oss1", "0", "0"), ("oss1", "1", size),
    ]  # fmt: skip
    assert rows[1]["time"] == "2023-11-14T22:14:20.000Z"
    assert rows[0]["sections"] == "3"
    assert rows[0]["raw_bytes"] == str(sum(len(s.text) for s in SECTIONS))
    assert rows[0]["stored_bytes"] == size


def test_ls_as_json_and_as_a_table(logs):
    rows = json.loads(pfscope("frames", "ls", logs, "--format", "json").stdout)
    assert [row["sequence"] for row in rows] == [0, 1, 0, 1]
    assert b"stored_bytes" in pfscope("frames", "ls", logs, "--format", "table").stdout


def test_ls_shows_names_without_control_characters(tmp_path):
    (tmp_path / "x.pfl").write_bytes(encoded(0, server="\x1b[31m=cmd"))
    done = pfscope("frames", "ls", tmp_path / "x.pfl", "--format", "csv")
    assert rb"\x1B[31m=cmd" in done.stdout


def test_cat_prints_what_lctl_would_and_parse_reads_it(tmp_path):
    section = Section("mdt.scratch-MDT0000.job_stats", STATS)
    (tmp_path / "x.pfl").write_bytes(encoded(0, (section,)))
    printed = pfscope("frames", "cat", tmp_path / "x.pfl").stdout
    assert printed == b"mdt.scratch-MDT0000.job_stats=\n" + STATS
    parsed = pfscope("parse", "-", "--format", "csv", stdin=printed)
    assert b"scratch-MDT0000,4242:1000:r01c01" in parsed.stdout


def test_cat_of_one_server_and_one_frame(logs):
    whole = pfscope("frames", "cat", logs).stdout
    assert whole.count(b"/proc/loadavg=") == 4
    some = pfscope("frames", "cat", logs, "--server", "oss1", "--sequence", "1").stdout
    assert some.count(b"/proc/loadavg=") == 1
    assert pfscope("frames", "cat", logs, "--server", "nobody").stdout == b""


def test_verify_of_what_is_whole(logs):
    done = pfscope("frames", "verify", logs)
    assert done.returncode == 0
    assert b"2 whole frames" in done.stdout
    assert done.stdout.endswith(b"no damage\n")


def test_verify_tells_damage_in_plain_words_and_ends_with_1(tmp_path):
    path = tmp_path / "x.pfl"
    path.write_bytes(encoded(0) + b"?" + encoded(1) + encoded(2)[:-1])
    done = pfscope("frames", "verify", path)
    assert done.returncode == 1
    size = len(encoded(0))
    assert f"1 bytes at offset {size}: no frame begins here" in done.stdout.decode()
    assert "the file ends within a frame" in done.stdout.decode()
    assert "2 whole frames\ndamaged in 2 places" in done.stdout.decode()


def test_damage_does_not_stop_ls_and_cat_and_is_told(tmp_path):
    (tmp_path / "x.pfl").write_bytes(encoded(0) + b"?" + encoded(1))
    for command in ("ls", "cat"):
        done = pfscope("frames", command, tmp_path / "x.pfl")
        assert done.returncode == 0
        assert b"no frame begins here" in done.stderr
    assert done.stdout.count(b"/proc/loadavg=") == 2


def test_what_is_not_there_is_one_line(tmp_path):
    done = pfscope("frames", "verify", tmp_path / "missing")
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1


def write_zstd(path, data):
    with pyarrow.CompressedOutputStream(str(path), "zstd") as file:
        file.write(data)


@pytest.fixture
def dumps(tmp_path):
    """A dump tree of two servers in the three ways of keeping dumps."""
    source = tmp_path / "dumps"
    for server in ("mds1", "oss1"):
        folder = source / server
        folder.mkdir(parents=True)
        (folder / "20260101T000000Z.txt").write_bytes(b"a.b.c=1\n")
        (folder / "20260101T000100Z.txt.gz").write_bytes(gzip.compress(b"a.b.c=2\n"))
        write_zstd(folder / "20260101T000200Z.txt.zst", b"a.b.c=3\n")
    (source / "truth").mkdir()
    (source / "truth" / "incidents.json").write_text("[]")
    (source / "README").write_text("not a server")
    return source


def outline(directory):
    return [
        (f.origin.server, f.origin.wall_ns // 10**9, next(f.sections()).text)
        for f in iter_frames(str(directory))
    ]


def test_dumps_become_logs_and_a_second_import_adds_nothing(dumps, tmp_path):
    out = tmp_path / "out"
    new_year = 1_767_225_600
    texts = (b"a.b.c=1\n", b"a.b.c=2\n", b"a.b.c=3\n")
    expected = [(s, new_year + 60 * i, t) for s in ("mds1", "oss1") for i, t in enumerate(texts)]
    for _again in range(2):
        done = pfscope("frames", "import-dumps", dumps, out)
        assert done.returncode == 0
        assert done.stdout.decode() == f"6 of 6 dumps are in {out}\n"
        assert done.stderr == b""
        assert outline(out) == expected
    (dumps / "mds1" / "20260101T000300Z.txt").write_bytes(b"a.b.c=4\n")
    pfscope("frames", "import-dumps", dumps, out)
    assert len(outline(out)) == 7


def test_a_broken_dump_is_told_and_the_others_are_imported(dumps, tmp_path):
    (dumps / "mds1" / "20260101T000400Z.txt.gz").write_bytes(b"\x1f\x8b broken")
    done = pfscope("frames", "import-dumps", dumps, tmp_path / "out")
    assert done.returncode == 1
    assert b"20260101T000400Z.txt.gz" in done.stderr
    assert len(outline(tmp_path / "out")) == 6


def test_a_directory_without_dumps_is_an_error(tmp_path):
    done = pfscope("frames", "import-dumps", tmp_path, tmp_path / "out")
    assert done.returncode == 1
    assert b"no dumps here" in done.stderr
