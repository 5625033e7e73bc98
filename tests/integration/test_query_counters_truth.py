"""Raw counters that are asked for are those that Lustre printed, in every text of a site."""

import subprocess
import sys
from bisect import bisect_right
from collections import Counter, defaultdict
from datetime import UTC, datetime

import pytest

import pfscope
from pfscope.lustre.job_stats import parse_job_stats
from pfscope.store.embedded import open_store
from pfscope.untrusted import ascii_text

KEYS = ("target", "class", "user", "job", "node", "executable")
FAULTS = "mangled,missing-job,qualified,skipped,repeated,reboot,failover"


def run(*arguments):
    command = [sys.executable, "-m", "pfscope.cli.main", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def groups(data):
    """Return the keys of each entry that no other entry shares them with."""
    with open_store(data, read_only=True) as store:
        rows = store.query("SELECT * FROM series").to_pylist()
    shared = Counter(tuple(row[key] for key in KEYS) for row in rows)
    keys = {(row["target"], row["entry_id"]): tuple(row[key] for key in KEYS) for row in rows}
    return {entry: group for entry, group in keys.items() if shared[group] == 1}


def lines(data, operation):
    """Return times and counters by group; of two rows at one time, the first was read then."""
    times, values = defaultdict(list), defaultdict(list)
    with pfscope.open(data) as opened:
        answer = opened.counters(by=KEYS, operation=operation, start="-1d").to_pylist()
    for row in answer:
        group = tuple(row[key] for key in KEYS)
        if times[group][-1:] != [row["time"]]:
            times[group].append(row["time"])
            values[group].append(row["counter"])
    return times, values


def printed(site, operation):
    """Return the time, target, id and counter of each entry in each text."""
    for path in sorted(site.glob("[mo]*/*.txt")):
        time = datetime.strptime(path.stem, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        stats = parse_job_stats(path.read_bytes())
        column = stats.total if operation.endswith("_bytes") else stats.samples
        for row, entry in enumerate(stats.entry.tolist()):
            if stats.operations[stats.operation[row]] == operation:
                raw = ascii_text(stats.ids[stats.entry_id[entry]])
                yield time, stats.targets[stats.target[entry]], raw, int(column[row])


@pytest.mark.parametrize("dialect", ["2.12", "2.16"])
def test_counters_are_those_of_the_texts(tmp_path, dialect):
    site, data = tmp_path / "site", tmp_path / "data"
    run("lab", "dump", site, "--hours", 3, "--seed", 31, "--faults", FAULTS, "--dialect", dialect)
    run("import", "dumps", site, "--data", data)
    alone = groups(data)
    for operation in ("open", "write_bytes"):
        times, values = lines(data, operation)
        compared = 0
        for time, target, raw, value in printed(site, operation):
            if (group := alone.get((target, raw))) is None:
                continue
            place = bisect_right(times[group], time) - 1
            assert (values[group][place] if place >= 0 else 0) == value, (time, target, raw)
            compared += value > 0
        assert compared > 1000
