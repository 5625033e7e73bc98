"""A lake's batches are there whole or not at all, wherever a writer was stopped."""

import os
import shutil
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pfscope.errors import InputError
from pfscope.mine.lake import Lake, writing
from pfscope.mine.parts import Parts
from pfscope.mine.schema import table_schema
from pfscope.mine.striping import fs_type_of, write_hints
from pfscope.mine.tidying import tidy
from tests.support.lake_rows import rows

STEPS = 11
"""Changes of directories in the commit that is stopped here."""


def jobs(*names):
    columns = {"log": list(names), "job_id": ["1"] * len(names)}
    schema = table_schema("darshan_job")
    arrays = [
        pa.array(columns[f.name], f.type) if f.name in columns else pa.nulls(len(names), f.type)
        for f in schema
    ]
    return pa.table(arrays, schema=schema)


def stage(lake, batch, *names, date="2026-11-01"):
    parts = Parts(lake.staging(batch), batch)
    parts.write("darshan_job", date, jobs(*names))
    parts.write("darshan_job", "2026-11-02", jobs(*names))
    parts.close()


def logs(path):
    return sorted({row["log"] for row in rows(path, "darshan_job")})


def test_a_batch_is_there_when_it_is_committed_and_not_before(tmp_path):
    with writing(tmp_path / "lake") as lake:
        stage(lake, "a", "x", "y")
        assert logs(lake.path) == []
        lake.commit("a")
        assert logs(lake.path) == ["x", "y"]
        assert lake.dates("darshan_job") == ["2026-11-01", "2026-11-02"]
        assert len(lake.files("darshan_job", ["2026-11-02"])) == 1


class StoppedError(Exception):
    pass


def steps_of_a_commit(monkeypatch, stop_at):
    """Let a commit stop before its n-th change of a directory."""
    count = 0

    def counted(function):
        def change(*args, **kwargs):
            nonlocal count
            count += 1
            if count == stop_at:
                raise StoppedError
            return function(*args, **kwargs)

        return change

    for owner, name in ((os, "rename"), (os, "unlink"), (os, "rmdir"), (shutil, "rmtree")):
        monkeypatch.setattr(owner, name, counted(getattr(owner, name)))
    return lambda: count


@pytest.mark.parametrize("stop_at", range(1, STEPS + 1))
def test_what_replaces_is_there_whole_or_not_after_a_stop_at_any_step(
    tmp_path, monkeypatch, stop_at
):
    with writing(tmp_path / "lake") as lake:
        stage(lake, "old", "old")
        lake.commit("old")
        stage(lake, "new", "new")
        replaced = lake.files("darshan_job")
        with monkeypatch.context() as patched:
            steps_of_a_commit(patched, stop_at)
            try:
                lake.commit("new", replaced)
                stopped = False
            except StoppedError:
                stopped = True
    with writing(tmp_path / "lake") as lake:
        assert logs(lake.path) in (["new"], ["old"])
        assert len(lake.files("darshan_job")) == 2
        assert not list((lake.path / ".committed").glob("*"))
        assert not list((lake.path / ".staging").glob("*"))
        # Only before the first step may it be that nothing happened.
        assert logs(lake.path) == (["old"] if stop_at == 1 and stopped else ["new"])


def test_every_step_of_that_commit_was_tried(tmp_path, monkeypatch):
    with writing(tmp_path / "lake") as lake:
        stage(lake, "old", "old")
        lake.commit("old")
        stage(lake, "new", "new")
        count = steps_of_a_commit(monkeypatch, None)
        lake.commit("new", lake.files("darshan_job"))
        assert count() == STEPS


def test_what_was_staged_by_a_dead_writer_is_thrown_away(tmp_path):
    with writing(tmp_path / "lake") as lake:
        stage(lake, "a", "x")
    with writing(tmp_path / "lake") as lake:
        assert logs(lake.path) == []
        assert not (lake.path / ".staging").exists()


def test_one_writes_at_a_time(tmp_path):
    with (
        writing(tmp_path / "lake"),
        pytest.raises(InputError, match="another import"),
        writing(tmp_path / "lake"),
    ):
        pass


def test_a_directory_that_is_no_lake_is_left_alone(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="not empty"), writing(tmp_path):
        pass
    with pytest.raises(InputError, match="no lake"):
        Lake(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]
    (tmp_path / "lake.json").write_text('{"format": 99}')
    with pytest.raises(InputError, match="another version"):
        Lake(tmp_path)


def test_many_small_files_are_put_together(tmp_path):
    with writing(tmp_path / "lake") as lake:
        for i in range(12):
            stage(lake, f"b{i}", f"log{11 - i:02d}")
            lake.commit(f"b{i}")
        before = rows(lake.path, "darshan_job")
        assert tidy(lake) == 24
        assert len(lake.files("darshan_job")) == 2
        assert rows(lake.path, "darshan_job") == before
        (keys,) = (
            pq.ParquetFile(path).read()["log"].to_pylist()
            for path in lake.files("darshan_job", ["2026-11-01"])
        )
        assert keys == sorted(keys)
        assert tidy(lake) == 0


MOUNTS = """\
21 1 8:1 / / rw - ext4 /dev/sda rw
30 21 0:40 / {lustre} rw shared:1 - lustre 10.0.0.1@o2ib:/scratch rw
31 30 0:41 / {lustre}/inner rw - tmpfs none rw
"""


def test_on_lustre_each_day_of_all_tables_is_put_on_an_ost(tmp_path):
    root = tmp_path / "a mount"
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS.format(lustre=str(root).replace(" ", "\\040")))
    with writing(root / "lake") as lake:
        stage(lake, "a", "x")
        lake.commit("a")
        parts = Parts(lake.staging("b"), "b")
        rows_of_files = table_schema("darshan_file").empty_table()
        parts.write_alone("darshan_file", "2026-11-02", rows_of_files)
        lake.commit("b")
        script = write_hints(lake, mounts)
        lines = script.read_text().splitlines()
        assert [line for line in lines if line.startswith("day ")] == [
            "day darshan_job/date=2026-11-01 0",
            "day darshan_job/date=2026-11-02 1",
            "day darshan_file/date=2026-11-02 1",
        ]
        shell(script, tmp_path)
    assert fs_type_of(root / "inner" / "x", mounts) == "tmpfs"
    with writing(tmp_path / "elsewhere") as lake:
        assert write_hints(lake, mounts) is None


def shell(script, tmp_path):
    """Run the script with an `lfs` that writes down what it was asked."""
    tools = tmp_path / "bin"
    tools.mkdir()
    lfs = tools / "lfs"
    lfs.write_text(
        '#!/bin/sh\n[ "$1" = osts ] && printf "OBDS:\\n0: a ACTIVE\\n" && exit\n'
        f'echo "$@" >> {tmp_path}/asked\n'
    )
    lfs.chmod(0o755)
    path = f"{tools}:{os.environ['PATH']}"
    subprocess.run([script], check=True, env={**os.environ, "PATH": path}, timeout=30)
    asked = (tmp_path / "asked").read_text().splitlines()
    assert "setstripe -c 1 -i 0 darshan_job/date=2026-11-02" in asked
    assert any(line.startswith("migrate -c 1 -i 0 darshan_job/date=2026-11-01/") for line in asked)
