"""A data directory has one process at a time; others are told who has it."""

import os
import socket
import subprocess
import sys

import pytest

from pfscope.errors import InputError
from pfscope.store.embedded import open_store
from tests.support.store_rows import at, usage

HOLD = """
import sys
from pathlib import Path
from pfscope.store.embedded import open_store
store = open_store(Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.read()
"""


def test_a_second_process_is_told_who_has_it_and_what_to_do(tmp_path):
    with open_store(tmp_path):
        doctor = [sys.executable, "-m", "pfscope.cli.main", "doctor", "--data", str(tmp_path)]
        done = subprocess.run(doctor, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"in use by process {os.getpid()} on {socket.gethostname()}" in done.stderr
    assert "--server URL" in done.stderr


def test_the_lock_ends_with_its_process(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(InputError, match=f"process {holder.pid} on"):
            open_store(tmp_path)
        holder.kill()
        holder.wait()
        open_store(tmp_path).close()


def test_many_may_read_what_nobody_writes(tmp_path):
    with open_store(tmp_path) as store:
        store.commit({"usage_ost": usage(at())}, [])
    with open_store(tmp_path, read_only=True) as one:
        with open_store(tmp_path, read_only=True) as other:
            assert one.query("FROM usage_ost") == other.query("FROM usage_ost")
        with pytest.raises(InputError, match="in use"):
            open_store(tmp_path)


def test_whatever_is_in_the_lock_file_is_shown_safely(tmp_path):
    with open_store(tmp_path):
        (tmp_path / "lock").write_bytes(b"12 \x1b[31mhost\n")
        with pytest.raises(InputError, match=r"process 12 on \\x1B\[31mhost;"):
            open_store(tmp_path)
        (tmp_path / "lock").write_bytes(b"\xff")
        with pytest.raises(InputError, match="in use by another process"):
            open_store(tmp_path)
