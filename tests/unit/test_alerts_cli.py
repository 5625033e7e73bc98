"""`pfscope alert list` and `silence` as people use them, and that the reference tells of all."""

import argparse
import csv
import io
import json
import re
from importlib import import_module
from pathlib import Path

import pytest

from pfscope.cli import alert
from pfscope.cli.main import main
from pfscope.config import parse_config
from pfscope.watch.alerts import settings
from pfscope.watch.alerts.fields import keys_of
from pfscope.watch.alerts.listing import COLUMNS
from pfscope.watch.alerts.notifiers import NOTIFIERS
from pfscope.watch.alerts.rules import FILTERS, Flapping, Inhibition
from pfscope.watch.alerts.templates import FIELDS
from tests.support import alert_world as world

DOCS = Path(__file__).resolve().parents[2] / "docs"
REFERENCE = DOCS / "reference" / "alerts.md"
GUIDE = DOCS / "how-to" / "get-alerted.md"


@pytest.fixture
def data(tmp_path):
    """Return a data directory with one alert that fires."""
    alerting = world.alerting(tmp_path, [world.rule()], world.Clock())
    alerting.advance([world.incident()])
    alerting.close()
    return str(tmp_path)


def said(capsys, *arguments):
    assert main(["alert", *arguments]) == 0
    return capsys.readouterr()


def test_alerts_are_listed(data, capsys):
    out = said(capsys, "list", "--data", data, "--format", "csv").out
    (row,) = csv.DictReader(io.StringIO(out))
    assert tuple(row) == COLUMNS
    assert (row["rule"], row["state"]) == ("storm", "firing")
    assert json.loads(said(capsys, "list", "--data", data, "--format", "json").out)[0]["what"]
    assert "storm" in said(capsys, "list", "--data", data, "--format", "table").out


def test_without_alerts_there_are_no_rows(tmp_path, capsys):
    for words in (["list"], ["silence", "list"]):
        told = said(capsys, *words, "--data", str(tmp_path), "--format", "json")
        assert told.out == "[]\n"


def test_a_silence_from_its_beginning_to_its_end(data, capsys):
    made = said(
        capsys, "silence", "add", "rule=storm", "target=*-MDT*", "--for", "2h",
        "--comment", "known", "--author", "anna", "--data", data,
    )  # fmt: skip
    name = made.out.strip()
    assert "silenced until" in made.err

    def state():
        out = said(capsys, "silence", "list", "--data", data, "--format", "json").out
        (row,) = json.loads(out)
        assert (row["author"], row["matchers"]) == ("anna", "rule=storm target=*-MDT*")
        return row["state"]

    assert state() == "active"
    said(capsys, "silence", "expire", name, "--data", data)
    assert state() == "ended"
    assert main(["alert", "silence", "expire", name, "--data", data]) == 2


def test_a_silence_that_cannot_be_written_is_told(tmp_path, capsys):
    (tmp_path / "alerts").write_text("not a directory")
    words = ["rule=storm", "--for", "2h", "--comment", "known", "--data", str(tmp_path)]
    assert main(["alert", "silence", "add", *words]) == 1
    assert "cannot write" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["list", "--data", "/nonexistent"], 1, "no data directory"),
        (["silence", "list", "--data", "/nonexistent"], 1, "no data directory"),
        (["test", "x", "--config", "/dev/null"], 2, "there are none"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments, code, told, capsys):
    assert main(["alert", *arguments]) == code
    err = capsys.readouterr().err
    assert told in err
    assert err.count("\n") == 1


def test_every_option_is_in_the_reference():
    text = REFERENCE.read_text()
    parsers = [argparse.ArgumentParser()]
    alert.configure(parsers[0])
    flags = set()
    while parsers:
        for action in parsers.pop()._actions:
            if isinstance(action, argparse._SubParsersAction):
                parsers += action.choices.values()
            flags |= set(action.option_strings)
    assert [flag for flag in flags - {"-h", "--help"} if f"`{flag}" not in text] == []


def test_every_key_and_field_is_in_the_reference():
    text = REFERENCE.read_text()
    keys = {*settings.COMMON, *settings.THRESHOLD, *FILTERS, "severity", *settings.WORDS}
    for name, kind in NOTIFIERS.items():
        module = import_module(f"pfscope.watch.alerts.notifiers.{name}")
        keys |= set(keys_of(getattr(module, kind)))
        assert f"`{name}`" in text
    keys |= set(keys_of(Flapping)) | set(keys_of(Inhibition))
    assert [key for key in keys if not re.search(rf"`{key}`|\b{key} =", text)] == []
    assert [field for field in FIELDS if f"`${field}`" not in text] == []


@pytest.mark.parametrize(("page", "rules"), [(REFERENCE, 2), (GUIDE, 4)])
def test_the_pages_show_configurations_that_work(page, rules):
    blocks = re.findall(r"```toml\n(.*?)```", page.read_text(), re.DOTALL)
    assert len(parse_config("\n".join(blocks), page.name).alerts.rules) == rules
