"""Every question, its columns and options are in the reference, and the guide's examples work."""

import argparse
import re
import shlex
from pathlib import Path

import pytest

from pfscope.cli import query
from pfscope.cli.main import main
from pfscope.query.keys import KEYS
from pfscope.query.metrics import SHIPPED
from pfscope.query.questions import QUESTIONS
from tests.support.query_store import make_store

DOCS = Path(__file__).resolve().parents[2] / "docs"
REFERENCE = (DOCS / "reference" / "query.md").read_text()
GUIDE = (DOCS / "how-to" / "ask-questions.md").read_text()
EXAMPLES = [
    line for line in GUIDE.splitlines()
    if line.startswith("pfscope query") and "--data DATA" in line and ">" not in line
]  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=lambda question: question.name)
def test_every_question(question):
    usual = ", ".join(question.form.by)
    row = f"| `{question.name}` | `{question.columns}` | {usual} |"
    assert row.replace("  ", " ") in REFERENCE
    for option in question.form.options:
        flag = f"`--{option.name.replace('_', '-')} "
        rows = [line for line in REFERENCE.splitlines() if flag in line]
        assert any(f"`{question.name}`" in line for line in rows), flag


def test_every_option_key_and_metric():
    parser = argparse.ArgumentParser()
    query.configure(parser)
    (questions,) = parser._subparsers._group_actions
    flags = {f for a in questions.choices["top"]._actions for f in a.option_strings}
    keys = {f"--{key}" for key in KEYS}
    assert [flag for flag in flags - keys - {"-h", "--help"} if f"`{flag}" not in REFERENCE] == []
    assert [key for key in KEYS if f"`{key}`" not in REFERENCE] == []
    assert [name for name in SHIPPED if f"| `{name}` |" not in REFERENCE] == []


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("store"))


@pytest.mark.parametrize("line", EXAMPLES)
def test_the_examples_of_the_guide_are_understood(data, capsys, monkeypatch, tmp_path, line):
    assert len(EXAMPLES) > 8
    monkeypatch.chdir(tmp_path)
    arguments = shlex.split(line.replace("DATA", str(data)))[1:]
    code = main([*arguments, "--format", "csv"])
    err = capsys.readouterr().err
    # The little store has not all that the examples ask for, and then that is said.
    assert code == 0 or re.search("no operation or metric|nothing was observed before", err), err
