"""The demo as a person runs it: real processes, a bounded time, nothing left behind."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pfscope.cli.processes import Processes
from pfscope.errors import PfscopeError

LIMIT_S = 300


@pytest.fixture(autouse=True)
def _heeding_interrupts() -> Iterator[None]:
    """Where tests run in the background, their children would be deaf to Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def start(temporary: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "pfscope.cli.main", "demo", *arguments],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def processes_that_name(path: Path) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has ended meanwhile
            continue
        if str(path) in command:
            found.append(command)
    return found


def lines_like(pattern: str, out: str) -> list[str]:
    return re.findall(f"^{pattern}$", out, re.MULTILINE)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, str, str]:
    temporary = tmp_path_factory.mktemp("demo")
    child = start(temporary, "--once")
    out, err = child.communicate(timeout=LIMIT_S)
    return temporary, child.returncode, out, err


def test_every_server_is_seen_and_the_demo_ends_well(
    finished: tuple[Path, int, str, str],
) -> None:
    _, code, out, err = finished
    assert (code, err) == (0, "")
    servers = set(re.findall(r"^\S+ (\S+) frame \d+: [1-9]\d* entries", out, re.MULTILINE))
    assert servers == {"mds1", "oss1", "oss2"}
    assert re.search(
        r"^3 servers, \d+ frames, \d+ entries parsed, 0 lines unreadable$", out, re.MULTILINE
    )


def test_the_busiest_user_is_the_culprit_that_was_injected(
    finished: tuple[Path, int, str, str],
) -> None:
    out = finished[2]
    busiest = lines_like(r"busiest user of the run: (\d+), .*", out)
    injected = lines_like(r"the laboratory injected: metadata storm by user (\d+), job .*", out)
    assert len(injected) == 1
    assert busiest == injected


def test_the_incident_is_told_with_its_culprit_first(
    finished: tuple[Path, int, str, str],
) -> None:
    out = finished[2]
    [(user, job)] = re.findall(r"injected: metadata storm by user (\d+), job (\d+) on", out)
    last = out[out.rindex("\nincident ") :]
    who = re.search(r"^who +user (\d+), job (\d+) \(\d+%\), sure to \d+%$", last, re.MULTILINE)
    assert who
    assert who.groups() == (user, job)
    for words in ("since ", "how much ", "for users ", "for admins ", f"scontrol hold {job}\n",
                  "the culprit named is the one that was injected"):  # fmt: skip
        assert words in last


def test_another_culprit_than_the_injected_one_is_a_failure(tmp_path: Path) -> None:
    child = start(tmp_path, "--once", "--dir", str(tmp_path / "mine"))
    try:
        truth = tmp_path / "mine/site/truth/incidents.json"
        wait_until(lambda: any("pfscope.agent" in c for c in processes_that_name(tmp_path)))
        told = json.loads(truth.read_text())
        told[0]["job"] = "1"
        truth.write_text(json.dumps(told))
        out, _ = child.communicate(timeout=LIMIT_S)
    finally:
        child.kill()
    assert child.returncode == 1
    assert "the culprit named is NOT the one that was injected" in out


def test_nothing_is_left_behind(finished: tuple[Path, int, str, str]) -> None:
    temporary = finished[0]
    assert list(temporary.iterdir()) == []
    assert processes_that_name(temporary) == []


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_whatever_ends_it_ends_its_children(tmp_path: Path, how: signal.Signals) -> None:
    child = start(tmp_path)
    last = "pfscope.agent" if how in (signal.SIGTERM, signal.SIGKILL) else "lab run"
    try:
        wait_until(lambda: any(last in c for c in processes_that_name(tmp_path)))
        child.send_signal(how)
        child.communicate(timeout=LIMIT_S)
    finally:
        child.kill()
    wait_until(lambda: not processes_that_name(tmp_path))
    if how != signal.SIGKILL:
        assert list(tmp_path.iterdir()) == []


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_directory_of_ones_own_is_kept(tmp_path: Path) -> None:
    child = start(tmp_path, "--seconds", "1", "--dir", str(tmp_path / "mine"))
    child.communicate(timeout=LIMIT_S)
    assert child.returncode == 0
    assert {"site", "spool", "log"} <= {path.name for path in (tmp_path / "mine").iterdir()}


def test_a_child_that_fails_is_named_with_its_last_words(tmp_path: Path) -> None:
    with Processes(tmp_path / "log") as processes:
        processes.start("laboratory", "pfscope.cli.main", "lab", "run", "/dev/null/site")
        with pytest.raises(PfscopeError, match=r"the laboratory ended \(1\): .*/dev/null/site"):
            wait_until(lambda: processes.check() is not None)


def test_a_child_that_does_not_listen_is_killed(tmp_path: Path) -> None:
    (tmp_path / "deaf.py").write_text(
        "import pathlib, signal, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "pathlib.Path(sys.argv[1]).touch()\n"
        "time.sleep(600)\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
        with Processes(tmp_path / "log", patience_s=0.2) as processes:
            processes.start("deaf one", "deaf", str(tmp_path / "ready"))
            wait_until((tmp_path / "ready").exists)
    assert processes_that_name(tmp_path) == []
