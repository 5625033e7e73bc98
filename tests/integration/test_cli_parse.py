"""`pfscope parse` as people and scripts use it: real processes, real pipes."""

import csv
import gzip
import io
import json
import subprocess
import sys

import pyarrow as pa
import pytest

COLUMNS = (
    "target,entry_id,class,system,job,user,group,node,executable,snapshot_time,start_time,"
    "operation,unit,samples,min,max,sum,sumsq"
)
TEXT = b"""obdfilter.scratch-OST0001.job_stats=
job_stats:
- job_id:          "11317854:17627127:r01c01"
  snapshot_time:   1723114647.887515895 secs.nsecs
  start_time:      1723114600.000000001 secs.nsecs
  write:           { samples:         189, unit: usecs, min:     1188, max:    60425, sum:          3053433, sumsq:        70791600789 }
  punch:           { samples:           0, unit: usecs, min:        0, max:        0, sum:                0, sumsq:                  0 }
rubbish
- job_id:          =cmd|'/C c'!A.0
  snapshot_time:   1723114647
  getattr:         { samples:           2, unit:  reqs }
"""  # noqa: E501


def parse(*arguments, text=TEXT, code=0):
    command = [sys.executable, "-m", "pfscope.cli.main", "parse", *arguments]
    done = subprocess.run(command, input=text, capture_output=True, timeout=60)
    assert done.returncode == code, done.stderr
    return done.stdout.decode("ascii"), done.stderr.decode("ascii")


def test_csv_is_the_contract():
    out, err = parse("-", "--format", "csv")
    assert out.splitlines()[0] == COLUMNS
    assert out.splitlines()[1] == (
        "scratch-OST0001,11317854:17627127:r01c01,sound,false,11317854,17627127,,r01c01,,"
        "1723114647.887515895,1723114600.000000001,write,usecs,189,1188,60425,3053433,70791600789"
    )
    second = list(csv.DictReader(io.StringIO(out)))[1]
    assert second["entry_id"] == "'=cmd|'/C c'!A.0"
    assert (second["user"], second["system"], second["min"]) == ("0", "true", "")
    assert (
        err == f"pfscope parse: standard input: offset {TEXT.index(b'rubbish')}: unreadable line\n"
    )


def test_json_is_the_same_with_exact_numbers():
    out, _ = parse("--format", "json")
    first, second = json.loads(out, parse_float=str)
    assert ",".join(first) == COLUMNS
    assert first["snapshot_time"] == "1723114647.887515895"
    assert first["sumsq"] == 70791600789
    assert (second["entry_id"], second["sum"]) == ("=cmd|'/C c'!A.0", None)


def test_a_table_is_for_people():
    out, _ = parse("--format", "table")
    assert "entry_id" in out.splitlines()[0]
    assert "scratch-OST0001" in out


def test_nothing_in_is_nothing_out():
    assert parse("--format", "csv", text=b"")[0] == COLUMNS + "\n"
    assert json.loads(parse("--format", "json", text=b"")[0]) == []


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.txt.zst"])
def test_files_may_be_compressed(tmp_path, name):
    path = tmp_path / name
    if name.endswith(".gz"):
        # Two members, as `cat a.gz b.gz` makes them.
        path.write_bytes(gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:]))
    elif name.endswith(".zst"):
        with pa.CompressedOutputStream(str(path), "zstd") as file:
            file.write(TEXT)
    else:
        path.write_bytes(TEXT)
    assert parse(str(path), text=b"")[0] == parse("-")[0]


def test_the_target_of_a_proc_file_is_in_its_path(tmp_path):
    path = tmp_path / "proc/fs/lustre/mdt/scratch-MDT0000/job_stats"
    path.parent.mkdir(parents=True)
    path.write_bytes(TEXT[TEXT.index(b"job_stats:") :])
    out, _ = parse(str(path))
    assert {row["target"] for row in csv.DictReader(io.StringIO(out))} == {"scratch-MDT0000"}


def test_formats_of_the_site(tmp_path):
    out, _ = parse("--jobid-name", "%u:%p:%H")
    assert next(csv.DictReader(io.StringIO(out)))["user"] == "11317854"
    config = tmp_path / "pfscope.toml"
    config.write_text('[filesystem.scratch.identity]\njobid_name = ["%u:%p:%H"]\n')
    out, _ = parse("--config", str(config))
    assert next(csv.DictReader(io.StringIO(out)))["user"] == "11317854"


def test_mistakes_end_with_one_line(tmp_path):
    _, err = parse(str(tmp_path / "none.txt"), code=1)
    assert err.startswith("pfscope: cannot read")
    assert err.count("\n") == 1
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(TEXT * 100)[:-20])
    assert "is damaged" in parse(str(cut), code=1)[1]
    assert "none of %e" in parse("--jobid-name", "%x", code=2)[1]


def test_a_reader_that_goes_away_is_no_error():
    command = f"{sys.executable} -m pfscope.cli.main parse --format csv | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        input=TEXT * 20_000,
        capture_output=True,
        timeout=60,
    )
    assert done.stdout.decode().strip() == COLUMNS
    assert b"Traceback" not in done.stderr
