"""`pfscope report` as a command: what it writes, what it says, and how it fails."""

import os
import subprocess
import sys

import pytest

from pfscope.config import Config
from pfscope.server.engine import Engine
from pfscope.server.limits import Limits
from tests.support.report_store import HOSTILE, Seen, hostile_store
from tests.support.server_world import server


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return hostile_store(tmp_path_factory.mktemp("report") / "data")


def run(*arguments, **environment):
    command = [sys.executable, "-m", "pfscope.cli.main", "report", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, env={**os.environ, **environment}
    )


def test_a_day_is_one_page(store, tmp_path):
    out = tmp_path / "new" / "day.html"
    done = run("day", "--data", store, "--out", out, "--date", "2022-10-27")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith(f"{out} is written, ")
    assert [p.name for p in out.parent.iterdir()] == ["day.html"]
    seen = Seen(out.read_text())
    assert HOSTILE[0] in "".join(seen.text)
    assert out.stat().st_size < 6_000_000


def test_figures_are_files_with_an_index(store, tmp_path):
    done = run("figures", "--data", store, "--out", tmp_path, "--job", HOSTILE[1], "--step", "30m")
    assert done.returncode == 0, done.stderr
    names = sorted(p.name for p in tmp_path.iterdir())
    assert (
        done.stderr == f"{len(names) - 2} figures are in {tmp_path}: open {tmp_path}/index.html\n"
    )
    assert "index.html" in names
    assert "05-job-1-write.html" in names
    assert "06-job-2-write.html" not in names


def test_a_filter_leaves_others_out(store, tmp_path):
    done = run("figures", "--data", store, "--out", tmp_path, "--filesystem", "home*")
    assert done.returncode == 1
    assert done.stderr.startswith("pfscope: nothing was done from ")


def test_an_image_without_a_browser_says_what_to_install(store, tmp_path):
    done = run("figures", "--data", store, "--out", tmp_path / "f", "--format", "png", PATH="")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "install chromium" in done.stderr
    assert not (tmp_path / "f").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("day", "--out", "x"), 2, "--data"),
        (("day", "--data", "STORE", "--out", "x", "--date", "yesterday"), 2, "is no time"),
        (
            ("day", "--data", "STORE", "--out", "x", "--date", "1999-01-01"),
            1,
            "nothing was observed",
        ),
        (("day", "--data", "STORE", "--out", "/dev/null/x"), 1, "cannot write"),
        (("figures", "--data", "STORE", "--out", "x", "--step", "often"), 2, "no duration"),
        (("year", "--data", "STORE", "--out", "x"), 2, "invalid choice"),
    ],
)
def test_a_mistake_is_told_in_words(store, tmp_path, monkeypatch, arguments, code, said):
    monkeypatch.chdir(tmp_path)
    done = run(*(str(store) if a == "STORE" else a for a in arguments))
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_server_gives_the_same_page_as_its_directory(tmp_path):
    directory = hostile_store(tmp_path / "data")
    words = ("--date", "2022-10-27", "--out")
    done = run("day", "--data", directory, *words, tmp_path / "here.html")
    assert done.returncode == 0, done.stderr
    engine = Engine.open(directory, Config(), Limits())
    with server(directory, engine=engine) as world:
        done = run("day", "--server", world.url, *words, tmp_path / "there.html")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "there.html").read_text() == (tmp_path / "here.html").read_text()
