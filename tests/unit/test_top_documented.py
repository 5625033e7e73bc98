"""Every option, key and column of `top` and `job` is documented, and the guide's commands work."""

import argparse
import re
import shlex
from pathlib import Path

import pytest

from pfscope.cli import job, top
from pfscope.cli.filters import FILTERS, FLAGS
from pfscope.cli.main import main
from pfscope.cli.top_batch import COLUMNS
from pfscope.top.keys import KEYS
from pfscope.top.view import ROWS
from tests.support.query_store import make_store

DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDE = (DOCS / "how-to" / "watch-live.md").read_text()
COMMANDS = [line for line in GUIDE.splitlines() if line.startswith("pfscope") and "DATA" in line]


def reference(name):
    return (DOCS / "reference" / f"{name}.md").read_text()


@pytest.mark.parametrize("module", [top, job])
def test_every_option(module):
    parser = argparse.ArgumentParser()
    module.configure(parser)
    flags = {flag for action in parser._actions for flag in action.option_strings}
    flags -= {"-h", "--help"} | {FLAGS.get(key, f"--{key}") for key in FILTERS}
    text = reference(module.__name__.rpartition(".")[2])
    assert [flag for flag in flags if f"`{flag}" not in text] == []


def test_every_key_and_nothing_else():
    text = reference("top").split("## Keys")[1].split("## Rows")[0]
    told = set(re.findall(r"`([^`]+)`", text)) - {"h"}
    assert told == {key.shown for key in KEYS}


def test_columns_and_limits_are_those_of_the_program():
    text = reference("top")
    assert f"`{','.join(COLUMNS)}`" in text
    assert f"`--limit N` | so many rows at most: {ROWS} |" in text
    assert f"`{','.join(job.COLUMNS)}`" in reference("job")


@pytest.mark.parametrize("line", [line for line in COMMANDS if "--at" not in line])
def test_the_commands_of_the_guide_work(line, tmp_path, capsys):
    assert len(COMMANDS) == 4
    data = make_store(tmp_path)
    assert main(shlex.split(line.replace("DATA", str(data)))[1:]) == 0
    assert capsys.readouterr().out
