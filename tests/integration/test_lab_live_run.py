"""`pfscope lab run` as a process of its own, and the real agent on its tree."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pfscope.lab.spectator import Spectator, SpoolReader

LIMIT_S = 60
INCIDENT = {"kind": "metadata_storm", "start": 0, "duration_s": 86400, "user": None}


def command(module: str, *arguments: object) -> list[str]:
    return [sys.executable, "-m", module, *map(str, arguments)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A mini site that is alive, four simulated seconds in a real one."""
    folder = tmp_path_factory.mktemp("lab")
    wanted = folder / "incidents.json"
    wanted.write_text(json.dumps([INCIDENT]))
    options = ("--step", 2, "--speed", 4, "--dialect", "2.12,2.16", "--incidents", wanted)
    run = command("pfscope.cli.main", "lab", "run", folder / "site", *options)
    with subprocess.Popen(run, stderr=subprocess.PIPE, text=True) as child:
        try:
            wait_for(folder / "site/truth/incidents.json", child)
            yield folder / "site"
            child.send_signal(signal.SIGTERM)
            _, err = child.communicate(timeout=LIMIT_S)
            assert (child.returncode, err) == (0, "")
        finally:
            child.kill()


def wait_for(path: Path, child: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + LIMIT_S
    while not path.exists():
        assert child.poll() is None, child.stderr and child.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_every_server_has_its_tree(site: Path) -> None:
    servers = {path.parents[1].name for path in site.glob("*/bin/lctl")}
    assert servers == {"mds1", "oss1", "oss2"}
    assert len(list(site.glob("mds1/proc/fs/lustre/mdt/*/job_stats"))) == 2
    assert len(list(site.glob("oss?/proc/fs/lustre/obdfilter/*/job_stats"))) == 4
    assert len(list(site.glob("*/proc/loadavg"))) == 3


def test_the_truth_names_the_culprit(site: Path) -> None:
    [incident] = json.loads((site / "truth/incidents.json").read_text())
    assert incident["kind"] == "metadata_storm"
    assert incident["user"].isdigit()
    assert incident["targets"]


def test_the_real_agent_collects_what_goes_on(site: Path, tmp_path: Path) -> None:
    config = tmp_path / "agent.conf"
    config.write_text("[agent]\n")
    options = ("--config", config, "--root", site / "mds1", "--server", "mds1", "--once")
    for _ in range(2):
        run = command("pfscope.agent", *options, "--spool", tmp_path / "spool")
        subprocess.run(run, check=True, timeout=LIMIT_S, env=dict(os.environ), capture_output=True)
        time.sleep(1.5)
    spectator = Spectator()
    seen = [spectator.see(f) for f in SpoolReader(tmp_path / "spool").new_frames()]
    assert [s.defects for s in seen] == [0, 0]
    assert seen[1].entries > 10
    assert seen[1].seconds > 0
    assert seen[1].requests > 0


def test_a_run_of_a_given_duration_ends_by_itself(tmp_path: Path) -> None:
    options = ("--step", 60, "--speed", 6000, "--duration", 120)
    done = subprocess.run(
        command("pfscope.cli.main", "lab", "run", tmp_path / "site", *options),
        capture_output=True, timeout=LIMIT_S, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "site/oss2/proc/uptime").exists()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--speed", 0], "--step, --speed and --duration must be above zero"),
        (["--dialect", "1.8"], "no dialect "),
        (["--preset", "tiny"], "no preset 'tiny'"),
        (["--faults", "gremlins"], "no fault 'gremlins'"),
    ],
)
def test_nonsense_is_refused_before_anything_is_written(
    tmp_path: Path, options: list[object], complaint: str
) -> None:
    done = subprocess.run(
        command("pfscope.cli.main", "lab", "run", tmp_path / "site", *options),
        capture_output=True, timeout=LIMIT_S, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith(f"pfscope: {complaint}")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize("verb", [("lab", "run"), ("demo", "--dir")])
def test_a_directory_that_holds_something_is_refused(tmp_path: Path, verb: tuple[str, str]) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    done = subprocess.run(
        command("pfscope.cli.main", *verb, tmp_path),
        capture_output=True,
        timeout=LIMIT_S,
        text=True,
    )
    assert done.returncode == 2
    assert "is not empty" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
