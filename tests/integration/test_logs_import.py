"""`pfscope logs import` and `logs ls` as people use them: again, in parts, killed, on bad files."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from pfscope.cli.main import main
from pfscope.logs.darshan.layouts import words
from tests.support.darshan_logs import counted, save, write_log
from tests.support.lake_rows import content, imports, rows
from tests.support.lmt_files import Truth, write_h5lmt, write_sqlite, write_tokio

DAY = 86400
START = 1_600_000_000 - 1_600_000_000 % DAY
HEADER = "JobIDRaw|JobID|User|Submit|Start|End|State|ElapsedRaw|NNodes"


def log(number, day=0, files=3):
    records = [
        {"id": i, "rank": 0, "POSIX_WRITES": 1, "POSIX_BYTES_WRITTEN": number + 1}
        for i in range(files)
    ]
    return write_log(
        [("POSIX", 4, counted(words("POSIX", 4), "<", records))],
        [(i, f"/lus/{number}/{i}") for i in range(files)],
        job_id=number, start=START + day * DAY, end=START + day * DAY + 60,
    )  # fmt: skip


def ls(lake, *arguments, capsys):
    capsys.readouterr()
    assert main(["logs", "ls", "--lake", str(lake), "--format", "json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Return a directory of logs of three days, and some files that are none."""
    root = tmp_path_factory.mktemp("logs")
    for i in range(40):
        save(root / str(i % 3) / f"alice_ior_id{i}_1-1-1-1_1.darshan", log(i, i % 3))
    save(root / "bad" / "cut.darshan", log(1)[:-9])
    save(root / "bad" / "empty.darshan", b"")
    save(root / "bad" / "\x1b[2J;rm -rf '$HOME'\n.darshan", b"no log at all")
    save(root / "bad" / "old.darshan", b"2.06\0\0\0\0" + bytes(2000))
    save(root / "0" / "still.darshan_partial", b"half")
    save(root / "2" / "copy.darshan", log(5, 2))
    return root


@pytest.fixture(scope="module")
def lake(logs, tmp_path_factory):
    path = tmp_path_factory.mktemp("lakes") / "lake"
    assert imports("darshan", logs, lake=path) == 0
    return path


def test_everything_that_is_a_log_is_there(lake):
    jobs = rows(lake, "darshan_job", "job_id", "bytes_written", "files", "user")
    assert sorted(jobs) == sorted((str(i), 3 * (i + 1), 3, "alice") for i in range(40))
    assert len(rows(lake, "darshan_file")) == 120


def test_importing_again_changes_nothing(lake, logs, tmp_path, capsys):
    files = {p: p.stat().st_mtime_ns for p in lake.rglob("*.parquet")}
    assert imports("darshan", logs, lake=lake) == 0
    assert "0 imported" in capsys.readouterr().err
    # The same content under another name is the same log.
    save(tmp_path / "renamed.darshan", log(7, 7 % 3))
    assert imports("darshan", tmp_path, lake=lake) == 0
    assert {p: p.stat().st_mtime_ns for p in lake.rglob("*.parquet")} == files


def test_what_became_of_files_is_told(lake, capsys):
    days = ls(lake, capsys=capsys)
    assert [(d["date"], d["files"]) for d in days] == [
        ("2020-09-13", 14), ("2020-09-14", 13), ("2020-09-15", 13), (None, 4),
    ]  # fmt: skip
    assert days[0]["rows"] == 14 * 4
    assert days[-1]["quarantined"] == 4
    reasons = {r["reason"] for r in ls(lake, "--why", capsys=capsys)}
    assert len(reasons) == 3
    assert any("Darshan 2" in reason for reason in reasons)
    files = ls(lake, "--files", "--from", "2020-09-14", "--to", "2020-09-14", capsys=capsys)
    assert sum(f["state"] == "whole" for f in files) == 13
    assert all(f["path"].isascii() and f["path"].isprintable() for f in files)


def test_hostile_names_of_files_do_no_harm_on_a_terminal(lake, capsys):
    assert main(["logs", "ls", "--lake", str(lake), "--format", "table"]) == 0
    told = capsys.readouterr()
    assert "\x1b" not in told.out + told.err
    assert "no log of Darshan" in told.err


def test_an_import_in_parts_is_an_import_of_all(lake, logs, tmp_path, capsys):
    parts = tmp_path / "lake"
    for begin, end in (("2020-09-14", "2020-09-14"), ("2020-09-01", "2020-09-13")):
        assert imports("darshan", logs, "--from", begin, "--to", end, lake=parts) == 0
    found = {row[0] for row in rows(parts, "darshan_job", "date")}
    assert {str(date) for date in found} == {"2020-09-13", "2020-09-14"}
    assert "14 imported" in (told := capsys.readouterr().err)
    assert "27 outside the period" in told
    assert imports("darshan", logs, "--processes", 1, lake=parts) == 0
    assert content(parts) == content(lake)


def test_an_import_that_was_killed_goes_on(lake, logs, tmp_path):
    target = tmp_path / "lake"
    command = [sys.executable, "-m", "pfscope.cli.main", "logs", "import", "darshan", str(logs),
               "--lake", str(target)]  # fmt: skip
    killed = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              start_new_session=True)  # fmt: skip
    deadline = time.monotonic() + 60
    while not list(target.glob("imports/*.parquet")) and killed.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    killed.send_signal(signal.SIGKILL)
    killed.wait(10)
    before = len(rows(target, "imports"))
    assert before > 0
    assert imports("darshan", logs, lake=target) == 0
    assert content(target) == content(lake)
    assert len(rows(target, "imports")) == len(rows(lake, "imports"))


def test_nothing_but_bad_files_is_an_error(tmp_path, capsys):
    save(tmp_path / "a.darshan", b"x")
    assert imports("darshan", tmp_path, lake=tmp_path / "lake") == 1
    assert "no log of Darshan" in capsys.readouterr().err


def test_what_is_not_there_and_what_makes_no_sense_is_told_in_a_line(tmp_path, capsys):
    assert imports("darshan", tmp_path / "none", lake=tmp_path / "lake") == 1
    assert "no such file" in capsys.readouterr().err
    assert not (tmp_path / "lake").exists()
    assert main(["logs", "ls", "--lake", str(tmp_path / "lake")]) == 1
    save(tmp_path / "a.darshan", log(1))
    assert imports("darshan", tmp_path, "--from", "2020-02-01", "--to", "2020-01-01",
                   lake=tmp_path / "lake") == 2  # fmt: skip


def test_what_nobody_may_read_is_told_and_stops_nothing(tmp_path, monkeypatch):
    closed = tmp_path / "logs" / "closed"
    save(closed / "a.darshan", log(1))
    save(tmp_path / "logs" / "b.darshan", log(2))
    real = os.scandir

    def scandir(path):
        if str(path) == str(closed):
            raise PermissionError(13, "Permission denied", str(closed))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    for _ in range(2):
        assert imports("darshan", tmp_path / "logs", lake=tmp_path / "lake") == 0
        found = {row["path"]: row["state"] for row in rows(tmp_path / "lake", "imports")}
        assert found[str(closed)] == "quarantined"
        assert len(found) == 2
    assert rows(tmp_path / "lake", "darshan_job", "job_id") == [("2",)]


def sacct(path, *lines):
    path.write_text("\n".join((HEADER, *lines)) + "\n")
    return path


def test_a_job_that_several_texts_tell_of_is_there_once_as_last_known(tmp_path):
    lake = tmp_path / "lake"
    first = sacct(
        tmp_path / "1.txt",
        "7|7|ann|2026-11-01T10:00:00|Unknown|Unknown|PENDING|0|1",
        "8|8|bob|2026-11-01T10:00:00|2026-11-01T11:00:00|Unknown|RUNNING|60|1",
        "8.0|8.0||2026-11-01T11:00:00|2026-11-01T11:00:00|Unknown|RUNNING|60|1",
    )
    second = sacct(
        tmp_path / "2.txt",
        "7|7|ann|2026-11-01T10:00:00|2026-11-03T10:00:00|2026-11-03T11:00:00|COMPLETED|3600|1",
        "8|8|bob|2026-11-01T10:00:00|2026-11-01T11:00:00|2026-11-02T11:00:00|FAILED|86400|1",
        "8.0|8.0||2026-11-01T11:00:00|2026-11-01T11:00:00|2026-11-02T11:00:00|FAILED|86400|1",
    )
    assert imports("slurm", first, lake=lake) == 0
    assert rows(lake, "slurm", "job_id", "state", "begun") == [
        ("7", "PENDING", False), ("8", "RUNNING", True),
    ]  # fmt: skip
    assert imports("slurm", second, lake=lake) == 0
    found = rows(lake, "slurm", "job_id", "state", "begun", "date")
    assert [(*row[:3], str(row[3])) for row in found] == [
        ("7", "COMPLETED", True, "2026-11-03"), ("8", "FAILED", True, "2026-11-01"),
    ]  # fmt: skip
    assert rows(lake, "slurm_step", "step", "state") == [("0", "FAILED")]
    # Told again in another order, older news change nothing.
    other = tmp_path / "other"
    assert imports("slurm", second, first, lake=other) == 0
    assert [r | {"log": 0} for r in rows(other, "slurm")] == [
        r | {"log": 0} for r in rows(lake, "slurm")
    ]


def test_texts_without_a_header_are_read_when_their_columns_are_named(tmp_path, capsys):
    path = tmp_path / "sacct.txt"
    path.write_text("9|2026-11-01T10:00:00|2026-11-01T10:00:00|COMPLETED\n")
    lake = tmp_path / "lake"
    assert imports("slurm", path, lake=lake) == 1
    assert "name its columns" in capsys.readouterr().err
    assert imports("slurm", path, "--fields", "JobIDRaw,Submit,Start,State", lake=lake) == 0
    assert rows(lake, "slurm", "job_id", "state") == [("9", "COMPLETED")]
    assert [row["state"] for row in ls(lake, "--files", capsys=capsys)] == ["whole"]


def test_days_of_a_text_that_were_not_asked_for_can_be_asked_for_later(tmp_path, capsys):
    path = sacct(
        tmp_path / "sacct.txt",
        *(f"{d}|{d}|ann|2026-11-0{d}T10:00:00|2026-11-0{d}T10:00:00|2026-11-0{d}T11:00:00"
          "|COMPLETED|3600|1" for d in range(1, 5)),
    )  # fmt: skip
    lake = tmp_path / "lake"
    assert imports("slurm", path, "--from", "2026-11-02", "--to", "2026-11-03", lake=lake) == 0
    assert rows(lake, "slurm", "job_id") == [("2",), ("3",)]
    assert "outside the period" in ls(lake, "--why", capsys=capsys)[0]["reason"]
    assert imports("slurm", path, lake=lake) == 0
    assert len(rows(lake, "slurm")) == 4
    assert imports("slurm", path, lake=lake) == 0
    assert ls(lake, "--why", capsys=capsys) == []


def test_the_forms_of_one_time_of_lmt_are_there_once(tmp_path):
    truth = Truth(zone="UTC")
    write_tokio(tmp_path / "a.hdf5", truth)
    write_h5lmt(tmp_path / "b.h5lmt", truth)
    write_sqlite(tmp_path / "c.sqlite3", truth)
    save(tmp_path / "d.hdf5", b"\x89HDF\r\n\x1a\nrubbish")
    lake = tmp_path / "lake"
    assert imports("lmt", tmp_path, lake=lake) == 0
    found = rows(lake, "lmt", "target", "time", "bytes_read", "server")
    assert len(found) == len({row[:2] for row in found}) == 4 * truth.steps
    assert sum(row[2] or 0 for row in found) == truth.read.sum()
    assert all(row[3] for row in found)
    states = {row["path"].rpartition("/")[2]: row["state"] for row in rows(lake, "imports")}
    assert states == dict.fromkeys(("a.hdf5", "b.h5lmt", "c.sqlite3"), "whole") | {
        "d.hdf5": "quarantined"
    }


def test_a_run_of_a_step_that_was_queued_again_is_a_row_of_its_own(tmp_path):
    path = sacct(
        tmp_path / "sacct.txt",
        "7.0|7.0||2026-11-01T10:00:00|2026-11-01T10:00:00|2026-11-01T11:00:00|FAILED|3600|1",
        "7.0|7.0||2026-11-02T10:00:00|2026-11-02T10:00:00|2026-11-02T11:00:00|COMPLETED|3600|1",
    )
    assert imports("slurm", path, lake=tmp_path / "lake") == 0
    assert rows(tmp_path / "lake", "slurm_step", "state") == [("FAILED",), ("COMPLETED",)]


def test_what_is_in_quarantine_is_tried_again_when_asked(tmp_path, capsys):
    lake = tmp_path / "lake"
    save(tmp_path / "logs" / "a.darshan", b"x")
    assert imports("darshan", tmp_path / "logs", lake=lake) == 1
    assert imports("darshan", tmp_path / "logs", lake=lake) == 0
    assert "1 were there already" in capsys.readouterr().err
    assert imports("darshan", tmp_path / "logs", "--again", lake=lake) == 1
    assert len(ls(lake, "--files", capsys=capsys)) == 1
