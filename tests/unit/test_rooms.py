"""The rooms of the house are apart: what a command loads, and what the agent never does."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from pfscope.cli.main import VERBS
from tests.support.query_store import make_store

SOURCE = Path(__file__).resolve().parents[2] / "src" / "pfscope"
LOADED = "import sys; print(' '.join(sorted({m.partition('.')[0] for m in sys.modules})))"


def modules_after(statement):
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}\n{LOADED}"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "statement", ["import pfscope", "import pfscope.agent.main", "import pfscope.frames"]
)
def test_the_agent_loads_no_third_party(statement):
    assert not modules_after(statement) & {"numpy", "pyarrow", "rich", "typing_extensions"}


def test_help_and_version_load_no_heavy_part():
    statement = "from pfscope.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass"
    assert not modules_after(statement) & {"numpy", "pyarrow", "rich"}


@pytest.mark.parametrize(
    "statement", ["import pfscope.query.questions", "import pfscope.query.written"]
)
def test_asking_loads_no_database_and_nothing_that_draws(statement):
    assert not modules_after(statement) & {"duckdb", "pandas", "plotly", "starlette", "uvicorn"}


def test_a_connection_to_a_server_loads_no_third_party():
    assert not modules_after("import pfscope.remote") & {"ibis", "numpy", "pyarrow", "rich"}


def test_an_answer_at_the_command_line_loads_nothing_that_draws(tmp_path):
    make_store(tmp_path)
    statement = (
        f"from pfscope.cli.main import main\nmain(['query', 'top', '--data', {str(tmp_path)!r}])"
    )
    loaded = modules_after(statement)
    assert "duckdb" in loaded
    assert not loaded & {"pandas", "plotly", "starlette", "uvicorn"}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_examples(verb):
    command = [sys.executable, "-m", "pfscope.cli.main", verb, "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "examples:" in done.stdout


def test_every_module_says_what_it_owns():
    for path in SOURCE.rglob("*.py"):
        name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
        doc = import_module(name.removesuffix(".__init__").removesuffix(".__main__")).__doc__
        assert doc, name
        assert len(doc.split("\n")[0]) > 20, name
