"""The agent as one file: the same bytes each time, and it runs where nothing is installed."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import pfscope
from pfscope.frames import iter_frames
from tests.support.lustre_tree import HOST, JOB_STATS, MDS, write_tree

BUILDER = Path(__file__).resolve().parents[2] / "packaging" / "build_agent.py"
PYENV_36 = sorted(Path.home().glob(".pyenv/versions/3.6.*/bin/python3"))


def old_python():
    """Return the oldest Python that the agent has to run on, where there is one."""
    for candidate in [shutil.which("python3.6"), *map(str, PYENV_36)]:
        if candidate and subprocess.run([candidate, "-c", ""], capture_output=True).returncode == 0:
            return candidate
    return None


INTERPRETERS = [
    pytest.param(sys.executable, id="this"),
    pytest.param(
        old_python(),
        id="3.6",
        marks=pytest.mark.skipif(old_python() is None, reason="no Python 3.6 on this machine"),
    ),
]


def built(path):
    subprocess.run([sys.executable, str(BUILDER), str(path)], check=True, capture_output=True)
    return path


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return built(tmp_path_factory.mktemp("dist") / "pfscope-agent.pyz")


def run(interpreter, program, *arguments):
    # Isolated: no site packages, no environment, nothing of this repository on the path.
    command = [interpreter, "-S", "-E", str(program), *arguments]
    return subprocess.run(command, stdout=-1, stderr=-1, timeout=60, cwd="/", env={})


def test_the_same_sources_give_the_same_bytes(program, tmp_path):
    assert built(tmp_path / "again.pyz").read_bytes() == program.read_bytes()


def test_it_holds_the_agents_rooms_only(program):
    with zipfile.ZipFile(program) as archive:
        names = archive.namelist()
    rooms = {"__main__.py", "pfscope/__init__.py"}
    assert rooms <= set(names)
    rest = [name for name in names if name not in rooms]
    assert all(name.startswith(("pfscope/frames/", "pfscope/agent/")) for name in rest)


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_it_runs_alone(interpreter, program, tmp_path):
    done = run(interpreter, program, "--version")
    assert done.stdout.decode().strip() == f"pfscope {pfscope.__version__}"
    tree = write_tree(tmp_path / "tree", MDS, HOST)
    done = run(interpreter, program, "--once", "--print", "--root", tree)
    assert done.returncode == 0
    assert JOB_STATS in done.stdout.decode()
    spool = tmp_path / "spool"
    done = run(interpreter, program, "--once", "--root", tree, "--spool", str(spool))
    assert done.returncode == 0
    (frame,) = iter_frames(str(spool))
    assert frame.origin.filesystems == ("scratch",)


def test_it_can_be_started_by_its_name(program):
    done = subprocess.run([program, "--version"], capture_output=True, timeout=60)
    assert done.returncode == 0
