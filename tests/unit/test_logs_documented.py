"""The reference of `pfscope logs` names every option and every column."""

import argparse
from pathlib import Path

import pytest

from pfscope.cli import logs, logs_import
from pfscope.mine.listing import Day, Reason

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "logs.md").read_text()


def options(parser):
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                yield from options(sub)
        else:
            yield from (name for name in action.option_strings if name.startswith("--"))


def test_every_option_is_told():
    parser = argparse.ArgumentParser(add_help=False)
    logs.configure(parser)
    found = set(options(parser)) - {"--help"}
    assert len(found) > 8
    assert [name for name in found if f"`{name}" not in PAGE] == []


@pytest.mark.parametrize("columns", [Day._fields, Reason._fields, logs_import.COLUMNS])
def test_columns_are_told_in_their_order(columns):
    assert f"`{','.join(columns)}`" in PAGE
