import gzip
import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from pfscope.frames import iter_frames
from pfscope.lustre.job_stats import parse_job_stats
from pfscope.untrusted import ascii_text

SOURCE = Path(__file__).resolve().parents[2] / "src"
USAGE = ["time", "target", "entry_id", "job", "user", "node", "executable", "operation",
         "increment"]  # fmt: skip


def lab(*arguments, hash_seed="1"):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONHASHSEED": hash_seed}
    return subprocess.run(
        [sys.executable, "-m", "pfscope.cli.main", "lab", "dump", *map(str, arguments)],
        capture_output=True, text=True, env=environment, timeout=120,
    )  # fmt: skip


def digests(directory):
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    out = tmp_path_factory.mktemp("lab") / "out"
    incidents = out.parent / "incidents.json"
    incidents.write_text('[{"kind": "metadata_storm", "start": 600, "factor": 10}]')
    done = lab(out, "--hours", "0.5", "--dialect", "2.12,2.16", "--incidents", incidents)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return out


def test_a_dump_has_the_files_that_it_promises(tree):
    assert {p.name for p in tree.iterdir()} == {"mds1", "oss1", "oss2", "truth", "slurm"}
    names = sorted(p.name for p in (tree / "oss2").iterdir())
    assert len(names) == 16
    assert (names[0], names[-1]) == ("20221027T000000Z.txt", "20221027T003000Z.txt")
    assert {p.name for p in (tree / "truth").iterdir()} == {
        "usage.parquet", "load.parquet", "jobs.parquet", "incidents.json", "faults.json",
    }  # fmt: skip
    text = (tree / "mds1" / names[3]).read_bytes()
    assert b"mdt.scratch-MDT0000.job_stats=\njob_stats:\n- job_id:" in text


def test_same_seed_same_bytes_however_it_is_made(tree, tmp_path):
    again = tmp_path / "again"
    done = lab(again, "--hours", "0.5", "--dialect", "2.12,2.16", "--workers", "2", "--incidents",
               tree.parent / "incidents.json", hash_seed="77")  # fmt: skip
    assert done.returncode == 0
    assert digests(again) == digests(tree)
    other = tmp_path / "other"
    assert lab(other, "--hours", "0.1", "--seed", "8").returncode == 0
    name = "oss1/20221027T000000Z.txt"
    assert (other / name).read_bytes() != (tree / name).read_bytes()


def test_compressed_text_and_frames_hold_the_same(tree, tmp_path):
    options = ("--hours", "0.2", "--dialect", "2.12,2.16", "--incidents",
               tree.parent / "incidents.json")  # fmt: skip
    assert lab(tmp_path / "gz", *options, "--compress").returncode == 0
    assert lab(tmp_path / "frames", *options, "--frames", "--workers", "1").returncode == 0
    texts = {}
    for path in sorted((tmp_path / "gz").rglob("*.txt.gz")):
        with gzip.open(path) as file:
            texts[path.parent.name, path.name.partition(".")[0]] = file.read()
        plain = tree / path.parent.name / path.name.removesuffix(".gz")
        assert plain.read_bytes() == texts[path.parent.name, path.name.partition(".")[0]]
    frames = list(iter_frames(str(tmp_path / "frames")))
    assert len(frames) == len(texts) == 3 * 7
    for server in ("mds1", "oss1", "oss2"):
        mine = [frame for frame in frames if frame.origin.server == server]
        assert [frame.origin.sequence for frame in mine] == list(range(7))
    for frame in frames:
        jobs = [s for s in frame.sections() if s.name.endswith(".job_stats")]
        assert len(jobs) == 2
        assert any(s.name == "/proc/loadavg" for s in frame.sections())


def test_truth_has_its_columns_and_adds_up_with_the_text(tree):
    usage = pq.read_table(tree / "truth/usage.parquet")
    assert usage.column_names == USAGE
    assert pc.min(usage["increment"]).as_py() > 0
    times = usage["time"].unique().to_pylist()
    assert [t.strftime("%H:%M:%S") for t in (min(times), max(times))] == ["00:02:00", "00:30:00"]
    increments: Counter[tuple[str, str, str]] = Counter()
    rows = (usage[name].to_pylist() for name in ("target", "entry_id", "operation", "increment"))
    for target, entry_id, operation, increment in zip(*rows, strict=True):
        increments[target, entry_id, operation] += increment
    first, last = (counted(tree, "oss1", t) for t in ("20221027T000000Z", "20221027T003000Z"))
    compared = 0
    for key, (start, value) in last.items():
        if key in first and first[key][0] == start:
            compared += 1
            assert value - first[key][1] == increments[key]
    assert compared > 50


def counted(tree, server, name):
    stats = parse_job_stats((tree / server / f"{name}.txt").read_bytes())
    found = {}
    for row, entry in enumerate(stats.entry.tolist()):
        operation = stats.operations[stats.operation[row]]
        values = stats.total if operation.endswith("_bytes") else stats.samples
        target = stats.targets[stats.target[entry]]
        key = (target, ascii_text(stats.ids[stats.entry_id[entry]]), operation)
        found[key] = (int(stats.start_ns[entry]), int(values[row]))
    return found


def test_jobs_load_and_incidents_tell_one_story(tree):
    (incident,) = json.loads((tree / "truth/incidents.json").read_text())
    jobs = {job["job"]: job for job in pq.read_table(tree / "truth/jobs.parquet").to_pylist()}
    mine = jobs[incident["job"]]
    assert (mine["user"], mine["nodes"], mine["incident"]) == (
        incident["user"], incident["nodes"], 0,
    )  # fmt: skip
    load = pq.read_table(tree / "truth/load.parquet").to_pylist()
    busiest = max(load, key=lambda row: row["load"])
    assert (busiest["server"], busiest["job"]) == ("mds1", incident["job"])
    sacct = (tree / "slurm/sacct.txt").read_text().splitlines()
    header = sacct[0].split("|")
    row = next(
        dict(zip(header, line.split("|"), strict=True))
        for line in sacct if f"|{incident['job']}|" in line
    )  # fmt: skip
    assert (row["UID"], row["Start"] + "Z") == (incident["user"], incident["start"])


def test_a_directory_that_holds_something_is_refused(tree, tmp_path):
    before = digests(tree)
    done = lab(tree)
    assert done.returncode == 2
    assert "is not empty" in done.stderr
    assert digests(tree) == before
    empty = tmp_path / "empty"
    empty.mkdir()
    assert lab(empty, "--hours", "0.05").returncode == 0


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--preset", "huge"), "no preset 'huge'"),
        (("--dialect", "1.8"), "no dialect"),
        (("--faults", "flood"), "no fault 'flood'"),
        (("--interval", "0.5"), "whole seconds"),
        (("--hours", "0"), "--hours must be above zero"),
        (("--cleanup-interval", "-1"), "must not be negative"),
        (("--start", "noon"), "not a time"),
    ],
)
def test_nonsense_is_refused_in_one_line_before_anything_is_written(tmp_path, options, reason):
    out = tmp_path / "out"
    done = lab(out, *options)
    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
    assert not out.exists()


def test_a_place_that_cannot_be_written_is_told_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    done = lab(tmp_path / "file" / "out", "--hours", "0.05")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "cannot write into" in done.stderr


def test_an_incident_after_the_end_is_not_told(tmp_path):
    incidents = tmp_path / "incidents.json"
    incidents.write_text('[{"kind": "hot_file", "start": 7200}]')
    assert lab(tmp_path / "out", "--hours", "0.1", "--incidents", incidents).returncode == 0
    assert json.loads((tmp_path / "out/truth/incidents.json").read_text()) == []


def test_a_calibration_file_changes_the_world(tmp_path):
    rates = tmp_path / "rates.csv"
    rows = [f"MDT0000,open,{m},1\nOST0000,read_bytes,{m},1e9\nOST0000,read,{m},1000"
            for m in range(0, 1440, 60)]  # fmt: skip
    rates.write_text("target,operation,minute,rate\n" + "\n".join(rows) + "\n")
    assert lab(tmp_path / "out", "--hours", "0.3", "--calibration", rates).returncode == 0
    usage = pq.read_table(tmp_path / "out/truth/usage.parquet")
    sums = usage.group_by("operation").aggregate([("increment", "sum")]).to_pylist()
    total = {row["operation"]: row["increment_sum"] for row in sums}
    assert total["read_bytes"] > 100 * 2**20 * total.get("open", 0)
