"""What is written about explaining jobs is true: commands, keys and codes of findings."""

import json
import re
import shutil
from pathlib import Path

import pytest

from pfscope.cli.main import main
from tests.support.console import Shell, steps
from tests.support.darshan_logs import WHEEL

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = (ROOT / "docs" / "reference" / "mine-job.md").read_text(encoding="utf-8")
SAMPLES = ("sample.darshan", "sample-badost.darshan", "sample-goodost.darshan")


@pytest.fixture
def logs(tmp_path):
    folder = tmp_path / "folder" / "logs"
    folder.mkdir(parents=True)
    for name in SAMPLES:
        shutil.copy(next(WHEEL.rglob(name)), folder)
    return folder


def test_the_how_to_page_prints_what_it_says(logs, tmp_path):
    (tmp_path / "bin").mkdir()
    shell = Shell(logs.parent, tmp_path / "bin")
    for step in steps(ROOT / "docs" / "how-to" / "explain-a-job.md"):
        done = shell(step.command)
        assert done.returncode == 0, (step.command, done.stderr)
        assert done.stdout.splitlines() == step.printed.splitlines(), step.command


def test_every_key_is_documented_and_those_of_low_are_marked(logs, capsys):
    documented = {
        key: "×" in mark
        for keys, mark in re.findall(r"^\| (`[^|]*`) \| ( |× )?\|", REFERENCE, re.MULTILINE)
        for key in re.findall(r"`(\w+)`", keys)
    }
    main(["mine", "job", str(logs / "sample.darshan"), "--format", "json"])
    told = json.loads(capsys.readouterr().out)
    assert set(told) <= set(documented)
    main(["logs", "import", "darshan", str(logs), "--lake", str(logs.parent / "LAKE")])
    capsys.readouterr()
    main(["mine", "low", "--lake", str(logs.parent / "LAKE"), "--format", "json"])
    (row,) = json.loads(capsys.readouterr().out)
    assert set(row) == {key for key, of_low in documented.items() if of_low}


def test_every_finding_is_documented():
    sources = (ROOT / "src" / "pfscope" / "mine").glob("explain*.py")
    text = "".join(path.read_text(encoding="utf-8") for path in sources)
    codes = set(re.findall(r'Finding\(\s*"([a-z-]+)"', text)) | {"read-again", "write-again"}
    table = REFERENCE.split("| code | speaks where |")[1]
    assert codes == set(
        re.findall(r"`([a-z-]+)`", "".join(re.findall(r"^\| (`[^|]*)\|", table, re.MULTILINE)))
    )
