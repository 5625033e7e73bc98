"""A store whose process is killed holds exactly what was committed, and opens again."""

import random
import subprocess
import sys
import time
from collections import Counter

import pytest

from pfscope.store.check import examine
from pfscope.store.embedded import open_store
from tests.support.store_rows import DAY_US

ROWS = 50
WRITER = """
import os, signal, sys, threading
from pathlib import Path
from pfscope.store.embedded import open_store
from pfscope.store.housekeeping import Rules
from pfscope.store.protocol import LedgerChange
from tests.support.store_rows import HOUR_US, at, frames, operations, series, usage

directory, dies_at = Path(sys.argv[1]), int(sys.argv[2])
steps = 0

def step(name):
    global steps
    steps += 1
    if steps == dies_at:
        os.kill(os.getpid(), signal.SIGKILL)

rules = Rules(settle_us=0, quiet_us=0, merge_after_us=1, merge_above=3)
store = open_store(directory, rules=rules, step=step)
number = store.next_series()
if number == 0:
    store.commit({"operations": operations("read")}, [])
now_us = at(number // 20)

def keep():
    while True:
        store.maintain(now_us)

threading.Thread(target=keep, daemon=True).start()
while True:
    now_us = at(0, number)
    times = [now_us + 120_000_000 * (i + 1) for i in range(%d)]
    batch = {"usage_ost": usage(*times, series=number), "frames": frames(number)}
    batch["series"] = series(number, first_seen=times[0])
    lines = [LedgerChange("store", "oss1", o, "", 1, %d) for o in ("received", "stored")]
    store.commit(batch, lines)
    print(number, flush=True)
    number += 1
""" % (ROWS, ROWS)  # noqa: UP031


def killed_writer(directory, delay_s, dies_at=0):
    """Let a process commit until it is killed; return the last batch it says is kept, else -1."""
    command = [sys.executable, "-c", WRITER, str(directory), str(dies_at)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        first = writer.stdout.readline()
        if not dies_at:
            time.sleep(delay_s)
            writer.kill()
        told = [first, *writer.stdout]
    assert writer.returncode == -9
    return int(([-1, *(line for line in told if line.endswith("\n"))])[-1])


def batches_in(directory):
    """Open the store, look for contradictions, and return the rows of each batch."""
    with open_store(directory) as store:
        assert [finding for finding in examine(store) if not finding.healthy] == []
        found = store.query("SELECT series FROM usage_ost").column("series").to_pylist()
        named = store.query("SELECT series FROM series ORDER BY series").column(0).to_pylist()
        seen = store.query("SELECT sequence FROM frames ORDER BY sequence").column(0).to_pylist()
        assert named == seen == sorted(set(found))
        days = {part.day for part in store.parts()}
        late = store.query("SELECT min(epoch_us(time)) AS t FROM hot.usage_ost").column("t")
        assert not days or late[0].as_py() is None or late[0].as_py() >= min(days) * DAY_US
    return Counter(found)


def check(directory, told):
    counts = batches_in(directory)
    assert set(counts.values()) <= {ROWS}, "each batch is there once and whole, or not at all"
    assert sorted(counts) == list(range(len(counts)))
    assert len(counts) in (told + 1, told + 2), "what was told to be kept, and at most one more"
    return len(counts) - 1


def lives(directory, endings):
    """Let a writer live and die again and again; a life may end before it says anything."""
    last = -1
    for delay_s, dies_at in endings:
        last = check(directory, max(last, killed_writer(directory, delay_s, dies_at)))


def test_killed_at_any_instant(tmp_path):
    chance = random.Random(7)
    lives(tmp_path, [(chance.random() * 0.6, 0) for _ in range(4)])


@pytest.mark.parametrize("dies_at", [1, 2, 3, 5, 11, 24])
def test_killed_between_the_steps_of_housekeeping(tmp_path, dies_at):
    lives(tmp_path, [(0, dies_at)] * 2)


def test_a_killed_store_can_be_read_without_writing(tmp_path):
    told = killed_writer(tmp_path, 0.2)
    with open_store(tmp_path, read_only=True) as store:
        count = (
            store.query("SELECT count(DISTINCT series) AS n FROM usage_ost").column("n")[0].as_py()
        )
    assert count in (told + 1, told + 2)
