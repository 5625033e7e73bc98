"""Laboratory days with incidents of every kind: `top` and `causes` name who was injected."""

import json
import subprocess
import sys

import pytest

import pfscope

KINDS = (
    "metadata_storm", "hot_file", "many_small_files", "random_small_reads", "stat_polling",
    "python_import_storm", "streaming_read", "temporary_files", "periodic_checkpoint",
)  # fmt: skip
FIRST_S, EVERY_S, LENGTH_S = 3600, 1500, 900
HOURS = 4


def run(*arguments):
    command = [sys.executable, "-m", "pfscope.cli.main", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def day(folder, kinds, seed, dialect):
    """Make a site with one incident after another; return its data and what is true of them."""
    wanted = [
        {"kind": kind, "start": FIRST_S + n * EVERY_S, "duration_s": LENGTH_S}
        for n, kind in enumerate(kinds)
    ]
    asked, site, data = folder / "incidents.json", folder / "site", folder / "data"
    asked.write_text(json.dumps(wanted))
    run("lab", "dump", site, "--hours", HOURS, "--seed", seed, "--dialect", dialect, "--frames",
        "--incidents", asked)  # fmt: skip
    run("import", "frames", *site.glob("*/*.pfl"), "--data", data)
    return data, json.loads((site / "truth" / "incidents.json").read_text())


@pytest.mark.parametrize(
    ("kinds", "seed", "dialect"),
    [(KINDS[:5], 41, "2.12"), (KINDS[5:], 42, "2.16"), (KINDS[2:7], 43, "2.15")],
)
def test_the_culprit_is_named_first(tmp_path, kinds, seed, dialect):
    data, incidents = day(tmp_path, kinds, seed, dialect)
    assert [incident["kind"] for incident in incidents] == [*kinds]
    with pfscope.open(data) as opened:
        for incident in incidents:
            words = {
                "operation": incident["operations"][0], "target": incident["targets"],
                "start": incident["start"], "end": incident["end"],
            }  # fmt: skip
            for key in ("user", "job"):
                top = opened.top(by=key, limit=1, **words).to_pylist()
                answer = opened.causes(by=key, **words)
                (first, *_) = answer.to_pylist()
                assert (top[0][key], first[key]) == (incident[key],) * 2, incident
                assert first["share"] > 0.5, incident
                assert first["baseline"] < first["increase"] < first["peak"], incident
                assert answer.about["named"]["verdict"] == "few", incident
            named = opened.causes(by="node", **words).to_pylist()
            assert named[0]["node"] in incident["nodes"], incident
