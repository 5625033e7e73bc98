"""The README tells the truth: its commands run, the files and pages that it names are there."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.console import Shell
from tests.support.serve_process import served

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
COMMANDS = [line for block in BLOCKS for line in block.splitlines() if line.strip()]
LCTL = f"#!/bin/sh\ncat <<'END'\n{(ROOT / 'tests/data/lctl.txt').read_text()}END\n"


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    folder, tools = tmp_path_factory.mktemp("newcomer"), tmp_path_factory.mktemp("bin")
    return Shell(folder, tools, {"lctl": LCTL})


def is_for_shell(line):
    return line.startswith(("pfscope", "lctl")) and "serve" not in line and "curl" not in line


def test_commands_run_in_their_order(shell):
    lines = [line for line in COMMANDS if is_for_shell(line)]
    assert len(lines) >= 6
    for line in lines:
        done = shell(line)
        assert done.returncode == 0, (line, done.stderr)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_server_takes_what_curl_sends(shell, tmp_path):
    (line,) = [line for line in COMMANDS if "curl" in line]
    with served(tmp_path / "data") as server:
        done = shell(line.replace("http://127.0.0.1:8470", server.url))
        assert done.returncode == 0, done.stderr
        assert '"stored"' in done.stdout


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith("make")])
def test_make_knows_its_targets(line):
    done = subprocess.run(
        [*line.split(), "--dry-run"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_what_it_names_is_there():
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", README) if "://" not in link]
    files = re.findall(r"`((?:tests|benchmarks|docs)/[^`]+)`", README)
    missing = [name for name in [*links, *files] if not (ROOT / name).exists()]
    assert not missing


def test_links_between_pages_lead_somewhere():
    broken = [
        (str(page.relative_to(ROOT)), link)
        for page in (ROOT / "docs").rglob("*.md")
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
        if "://" not in link and not (page.parent / link).exists()
    ]
    assert not broken
