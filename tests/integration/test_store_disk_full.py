"""No room for the store: what cannot be kept is refused whole, and all goes on when there is room.

The limit is the kernel's on the size of files, which fails a write as a full disk does.
"""

import subprocess
import sys

import pytest

WRITER = """
import resource, signal, sys
from pathlib import Path
import numpy as np, pyarrow as pa
from pfscope.store.embedded import open_store
from pfscope.store.housekeeping import Rules
from pfscope.store.protocol import StoreError
from tests.support.store_rows import at, usage

directory, rows, limit = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
numbers, kept, refused = np.random.default_rng(7), 0, 0

def batch():
    few = usage(*(at(0, 1) + i for i in range(100)))
    many = pa.concat_tables([few] * (rows // 100))
    return {"usage_ost": many.set_column(4, "samples", pa.array(numbers.integers(0, 2**60, rows)))}

def shown(store):
    return store.query("SELECT count(*) AS n FROM usage_ost").column("n")[0].as_py()

def attempt(action):
    try:
        action()
    except StoreError:
        return False
    return True

def commit():
    store.commit(batch(), [])

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = open_store(directory, rules=Rules(settle_us=0, quiet_us=0))
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
while refused < 3:
    done = attempt(commit)
    kept, refused = kept + done * rows, refused + (not done)
    assert shown(store) == kept
attempt(lambda: store.maintain(at(9)))
assert shown(store) == kept
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
commit()
store.maintain(at(9))
assert shown(store) == kept + rows
assert sum(part.rows for part in store.parts()) == kept + rows
assert len(list(directory.glob("parquet/*/day=*/*"))) == len(store.parts())
store.close()
with open_store(directory) as store:
    assert shown(store) == kept + rows
print("kept", kept)
"""


@pytest.mark.parametrize(
    ("rows", "limit"),
    [
        pytest.param(1_000, 1_000_000, id="the log cannot grow"),
        pytest.param(50_000, 8_000_000, id="a checkpoint fails and takes the database down"),
        pytest.param(300_000, 8_000_000, id="the database file cannot grow"),
    ],
)
def test_a_full_disk_loses_and_doubles_nothing(tmp_path, rows, limit):
    command = [sys.executable, "-c", WRITER, str(tmp_path), str(rows), str(limit)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("kept ")
