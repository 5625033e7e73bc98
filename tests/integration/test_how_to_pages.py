"""The how-to pages tell the truth: their commands print what the pages say."""

from pathlib import Path

import pytest

from tests.support.console import Shell, steps

PAGES = Path(__file__).resolve().parents[2] / "docs" / "how-to"


@pytest.mark.parametrize("name", ["find-a-culprit.md"])
def test_a_page_prints_what_it_says(name, tmp_path):
    folder, tools = tmp_path / "folder", tmp_path / "bin"
    folder.mkdir()
    tools.mkdir()
    shell = Shell(folder, tools)
    for step in steps(PAGES / name):
        done = shell(step.command)
        assert done.returncode == 0, (step.command, done.stderr)
        assert done.stdout.splitlines() == step.printed.splitlines(), step.command
