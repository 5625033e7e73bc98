"""Rows that are kept after a commit that found no room: DuckDB once lost them, and none may be."""

import subprocess
import sys

from tests.support.small_disk import small_disk

MB = 1 << 20
WRITER = """
import os, sys
from contextlib import suppress
from pathlib import Path
import pyarrow as pa
from pfscope.store.database import Database, Resources
from pfscope.store.protocol import StoreError

directory, kept = Path(sys.argv[1]), []
filler = directory / "filler"

def fill():
    with filler.open("ab", buffering=0) as file, suppress(OSError):
        while size := os.statvfs(directory).f_bavail * os.statvfs(directory).f_frsize:
            file.write(bytes(size))

def make_room():
    filler.unlink(missing_ok=True)

def commit(frames, rows_each):
    names = list(range(len(kept), len(kept) + frames))
    rows = frames * rows_each
    values = [(i * 7919) % 1_000_003 * 1_000_003 for i in range(rows)]
    try:
        with database.transaction() as cursor:
            text = [f"x{n}" for n in names]
            cursor.from_arrow(pa.table({"s": names, "t": text})).insert_into("frames")
            cursor.from_arrow(pa.table({"s": [0] * rows, "v": values})).insert_into("usage")
            cursor.execute("UPDATE commits SET number = number + 1")
    except StoreError:
        return False
    kept.extend(names)
    return True

def empty():
    with database.transaction() as cursor:
        cursor.execute("DELETE FROM frames")

def shown():
    with database.cursor() as cursor:
        return cursor.execute("SELECT count(*) FROM frames").fetchone()[0]

database = Database(directory, Resources())
with database.transaction() as cursor:
    cursor.execute("CREATE TABLE frames (s BIGINT, t VARCHAR)")
    cursor.execute("CREATE TABLE usage (s BIGINT, v BIGINT)")
    cursor.execute("CREATE TABLE commits AS SELECT 0::BIGINT AS number")
fill()
done = [commit(1, 50), commit(3, 500)]
make_room()
empty()
done.append(commit(1, 500))
database.close()
database = Database(directory, Resources())
fill()
done.append(commit(1, 1))
make_room()
empty()
done.append(commit(3, 50))
print(done, shown())
database.close()
print(Database(directory, Resources()) and "opens")
"""


def test_what_is_kept_after_a_commit_that_had_no_room_is_there(tmp_path):
    with small_disk(tmp_path / "disk", 8 * MB) as disk:
        command = [*disk.enter, sys.executable, "-c", WRITER, str(disk.path)]
        done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[True, False, True, False, True] 3", "opens"]
