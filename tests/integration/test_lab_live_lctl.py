"""The stand-in for lctl, run as a real program on a live tree."""

import subprocess
from pathlib import Path

import pytest

from pfscope.lab.dialects import DIALECTS
from pfscope.lab.live import LiveTree
from pfscope.lab.text import param_text, server_sections
from tests.support.lab_snapshots import server_snapshot


def lctl(tree: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([tree / "oss1/bin/lctl", *arguments], capture_output=True, timeout=60)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    LiveTree(tmp_path).show(server_snapshot(DIALECTS["2.12"], "ost"))
    return tmp_path


@pytest.mark.parametrize("name", ["2.12", "2.16", "2.17"])
def test_get_param_prints_what_the_release_prints(tmp_path: Path, name: str) -> None:
    dialect = DIALECTS[name]
    snapshot = server_snapshot(dialect, "ost")
    LiveTree(tmp_path).show(snapshot)
    done = lctl(tmp_path, "get_param", "*.*.job_stats", "obdfilter.*.num_exports")
    leaves = (".job_stats", ".num_exports")
    sections = server_sections(dialect, snapshot)
    expected = [param_text(dialect, *s) for leaf in leaves for s in sections if s[0].endswith(leaf)]
    assert (done.stdout, done.returncode) == (b"".join(expected), 0)


def test_values_alone(tree: Path) -> None:
    done = lctl(tree, "get_param", "-n", "obdfilter.scratch-OST0000.num_exports")
    assert done.stdout == b"1031\n"


def test_a_client_is_found_by_its_address(tree: Path) -> None:
    name = "obdfilter.scratch-OST0000.exports.10.1.0.2@o2ib.stats"
    done = lctl(tree, "get_param", name)
    assert done.stdout.startswith(f"{name}=\n".encode())
    listed = lctl(tree, "list_param", "obdfilter.*.exports.*.stats").stdout.decode().split()
    assert listed == [name.replace("0.2@", "0.1@"), name]


def test_what_is_not_there_is_complained_about_and_the_rest_still_printed(tree: Path) -> None:
    done = lctl(tree, "get_param", "-n", "mdt.*.md_stats", "obdfilter.scratch-OST0000.num_exports")
    assert done.stdout == b"1031\n"
    message = "error: get_param: param_path 'mdt/*/md_stats': No such file or directory\n"
    assert (done.stderr.decode(), done.returncode) == (message, 2)
