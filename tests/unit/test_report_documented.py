"""Every option of `pfscope report` is in its reference, and the figures' numbers are as it says."""

import argparse
from pathlib import Path

from pfscope.cli import report
from pfscope.report.browser import BROWSERS

DOCS = Path(__file__).resolve().parents[2] / "docs"


def flags(parser):
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action.choices, dict):
            for inner in action.choices.values():
                yield from flags(inner)


def test_every_option_is_in_the_reference():
    parser = argparse.ArgumentParser()
    report.configure(parser)
    found = set(flags(parser)) - {"-h", "--help"}
    text = (DOCS / "reference" / "report.md").read_text()
    assert len(found) > 8
    assert [flag for flag in found if f"`{flag}" not in text] == []


def test_browsers_that_the_guide_names_are_looked_for():
    text = (DOCS / "how-to" / "make-reports.md").read_text()
    assert [name for name in BROWSERS[:3] if f"`{name}`" not in text] == []
