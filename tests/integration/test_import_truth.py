"""Dumps of a simulated site, imported: usage is the truth, to the last operation, in every release.

All faults are on: lost and mangled ids, skipped and repeated entries, reboots, failovers, stepped
clocks, silent agents and hostile ids.
"""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pfscope.lab.dialects import DIALECTS
from pfscope.lustre.job_stats import parse_job_stats
from pfscope.store.embedded import open_store
from pfscope.untrusted import ascii_text

SUMS = """
    SELECT target, entry_id, name, sum(CASE WHEN name LIKE '%\\_bytes' ESCAPE '\\'
                                       THEN total ELSE samples END)::BIGINT AS n
    FROM (FROM usage_mdt UNION ALL FROM usage_ost)
    JOIN series USING (series) JOIN operations USING (operation)
    WHERE NOT baseline GROUP BY ALL HAVING n > 0
"""


def pfscope(*arguments):
    command = [sys.executable, "-m", "pfscope.cli.main", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stderr


def sums_in_store(data: Path) -> Counter:
    with open_store(data, read_only=True) as store:
        rows = store.query(SUMS).to_pylist()
    return Counter({(r["target"], r["entry_id"], r["name"]): r["n"] for r in rows})


def true_sums(site: Path) -> Counter:
    table = pq.read_table(site / "truth" / "usage.parquet")
    keys = ["target", "entry_id", "operation"]
    rows = table.group_by(keys).aggregate([("increment", "sum")]).to_pylist()
    return Counter({tuple(r[k] for k in keys): r["increment_sum"] for r in rows})


@pytest.mark.parametrize("dialect", [*DIALECTS, "2.12,2.15,2.16"])
def test_usage_equals_the_truth(tmp_path, dialect):
    site, data = tmp_path / "site", tmp_path / "data"
    pfscope(
        "lab", "dump", site, "--hours", 2, "--seed", 21, "--faults", "all", "--dialect", dialect
    )
    pfscope("import", "dumps", site, "--data", data)
    found, wanted = sums_in_store(data), true_sums(site)
    assert len(wanted) > 1000
    assert found == wanted


COUNTERS = """
    WITH usage AS (FROM usage_mdt UNION ALL FROM usage_ost),
    marks AS (SELECT series, max(time) AS mark FROM usage WHERE restarted OR baseline GROUP BY 1)
    SELECT target, entry_id, name, sum(samples)::BIGINT AS n
    FROM usage JOIN marks USING (series) JOIN series USING (series)
    JOIN operations USING (operation) WHERE usage.time >= mark GROUP BY ALL
"""


@pytest.mark.parametrize("dialect", ["2.12", "2.16"])
def test_raw_counters_come_back(tmp_path, dialect):
    """What the last texts show is the running sum of what is stored."""
    site, data = tmp_path / "site", tmp_path / "data"
    pfscope(
        "lab", "dump", site, "--hours", 3, "--seed", 24, "--faults", "all", "--dialect", dialect
    )
    pfscope("import", "dumps", site, "--data", data)
    with open_store(data, read_only=True) as store:
        rows = store.query(COUNTERS).to_pylist()
    counters = {(r["target"], r["entry_id"], r["name"]): r["n"] for r in rows}
    compared = 0
    for folder in (path for path in site.iterdir() if path.name not in ("truth", "slurm")):
        stats = parse_job_stats(max(folder.glob("*.txt")).read_bytes())
        for row, entry in enumerate(stats.entry.tolist()):
            raw = ascii_text(stats.ids[stats.entry_id[entry]])
            target = stats.targets[stats.target[entry]]
            key = (target, raw, stats.operations[stats.operation[row]])
            assert counters[key] == stats.samples[row], key
            compared += 1
    assert compared > 500


def test_importing_in_parts_and_again_changes_nothing(tmp_path):
    site, data = tmp_path / "site", tmp_path / "data"
    pfscope("lab", "dump", site, "--hours", 1, "--seed", 22, "--faults", "all", "--compress")
    late = sorted(site.glob("*/*.txt.gz"), key=lambda p: p.name)[40:]
    aside = [path.rename(tmp_path / f"{path.parent.name}-{path.name}") for path in late]
    pfscope("import", "dumps", site, "--data", data)
    for path, moved in zip(late, aside, strict=True):
        moved.rename(path)
    assert f"{len(late)} frames imported, 40 were there already" in pfscope(
        "import", "dumps", site, "--data", data
    )
    assert sums_in_store(data) == true_sums(site)
    assert "0 frames imported" in pfscope("import", "dumps", site, "--data", data)
    assert sums_in_store(data) == true_sums(site)


def test_frame_logs_give_the_same(tmp_path):
    site, data = tmp_path / "site", tmp_path / "data"
    pfscope("lab", "dump", site, "--hours", 1, "--seed", 23, "--faults", "all", "--frames")
    pfscope(
        "import", "frames", *sorted(p for p in site.iterdir() if p.name != "truth"), "--data", data
    )
    assert sums_in_store(data) == true_sums(site)


def test_what_is_no_tree_of_dumps_is_told(tmp_path):
    command = [
        sys.executable,
        "-m",
        "pfscope.cli.main",
        "import",
        "dumps",
        str(tmp_path),
        "--data",
        "x",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "holds no dumps" in done.stderr
