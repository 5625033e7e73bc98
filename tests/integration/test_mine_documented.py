"""What is documented of the miner is so: its page's lines run, functions and options are named."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pfscope.cli.mine import VERBS
from pfscope.mine.engine import RAW
from pfscope.mine.frame import Frame
from pfscope.mine.functions import AGGREGATES, SCALARS
from tests.support.console import Shell, steps

DOCS = Path(__file__).resolve().parents[2] / "docs"
HOW_TO = DOCS / "how-to" / "mine-logs.md"
REFERENCE = (DOCS / "reference" / "mine.md").read_text()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The directory in which the page's commands were run, and what they said."""
    made, tools = tmp_path_factory.mktemp("folder"), tmp_path_factory.mktemp("bin")
    shell = Shell(made, tools)
    for step in steps(HOW_TO):
        done = shell(step.command)
        assert done.returncode == 0, (step.command, done.stderr)
        assert done.stdout.splitlines() == step.printed.splitlines(), step.command
    return made


def test_the_commands_of_the_page_print_what_it_says(folder):
    page = (folder / "stats.html").read_text()
    assert "How applications do I/O" in page
    assert "https://" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)


def test_the_lines_in_python_print_what_the_page_says(folder):
    blocks = re.findall(r"```python\n(.*?)```", HOW_TO.read_text(), re.DOTALL)
    printed = re.search(r"```\n( +workload.*?)```", HOW_TO.read_text(), re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(blocks)],
        cwd=folder, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(printed[1])


@pytest.mark.parametrize("name", [*SCALARS, *AGGREGATES, "count", "ost_union", *RAW.values()])
def test_every_function_is_documented(name):
    assert re.search(rf"`{name}[`(]", REFERENCE), name


def test_every_operation_is_documented():
    for_joins_and_writers = {"side", "to_batches"}
    public = {name for name in vars(Frame) if not name.startswith("_")} - for_joins_and_writers
    missing = [n for n in public if not re.search(rf"[`.]{n}[`(]", REFERENCE)]
    assert not missing


@pytest.mark.parametrize("verb", ["sql", "stats", "synth"])
def test_every_option_is_documented(verb):
    assert verb in VERBS
    done = subprocess.run(
        [sys.executable, "-m", "pfscope.cli.main", "mine", verb, "--help"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    section = REFERENCE.partition(f"## `pfscope mine {verb} ")[2].partition("\n")[0]
    for option in set(re.findall(r"--[a-z-]+", done.stdout.partition("examples:")[0])) - {"--help"}:
        assert option in section, option
    assert "examples:" in done.stdout


def test_wrong_questions_are_told_in_one_line(folder):
    for arguments, code in (
        (["sql", "SELECT nope FROM darshan_job", "--lake", "lake"], 1),
        (["sql", "DROP TABLE x", "--lake", "lake"], 2),
        (["sql", "SELECT 1", "--lake", "nothing"], 1),
        (["stats", "--lake", "lake", "--out", "x.html", "--from", "monday"], 2),
        (["synth", "--out", "lake"], 1),
        (["synth", "--jobs", "0", "--out", "new"], 2),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "pfscope.cli.main", "mine", *arguments],
            cwd=folder, capture_output=True, text=True,
        )  # fmt: skip
        assert (done.returncode, done.stderr.count("\n")) == (code, 1), (arguments, done.stderr)


def test_rows_come_as_json_and_parquet(folder):
    import json

    import pyarrow.parquet as pq

    question = "SELECT job_id, start, osts FROM darshan_job ORDER BY job_id LIMIT 2"
    command = [sys.executable, "-m", "pfscope.cli.main", "mine", "sql", question, "--lake", "lake"]
    done = subprocess.run(
        [*command, "--format", "json"], cwd=folder, capture_output=True, text=True, check=True
    )
    rows = json.loads(done.stdout)
    assert [row["job_id"] for row in rows] == ["10000000", "10000001"]
    assert rows[0]["start"].endswith("Z")
    subprocess.run(
        [*command, "--format", "parquet", "--output", "x.parquet"], cwd=folder, check=True
    )
    assert pq.read_table(folder / "x.parquet")["job_id"].to_pylist() == ["10000000", "10000001"]
