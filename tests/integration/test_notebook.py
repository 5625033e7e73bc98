"""The notebook tells the truth: its cells run anywhere, give what it shows, name the culprits."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.notebook import code_cells, read, stored

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "docs" / "tutorials" / "thesis-day.ipynb"
WAYS = ("by_hand", "named", "injected")
LARGEST_BYTES = 600_000


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Run all cells in an empty directory; what they leave there is told, too."""
    empty, temporary = tmp_path_factory.mktemp("empty"), tmp_path_factory.mktemp("temporary")
    command = [sys.executable, "-W", "error", "-m", "tests.support.notebook", str(NOTEBOOK)]
    done = subprocess.run(
        [*command, "--names", ",".join(WAYS)],
        cwd=empty,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr
    left = [path.name for place in (empty, temporary) for path in place.iterdir()]
    return {**json.loads(done.stdout), "left": left}


def test_it_shows_what_running_it_gives(ran):
    for cell in code_cells(read(NOTEBOOK)):
        assert tuple(ran["cells"][cell["id"]]) == stored(cell), cell["id"]


def test_who_is_named_by_hand_and_in_one_step_is_who_was_injected(ran):
    by_hand, named, injected = (ran["names"][way] for way in WAYS)
    assert by_hand == named == injected
    assert [len(users) for users in injected.values()] == [1, 1, 1]


def test_it_leaves_nothing_behind(ran):
    assert ran["left"] == []


def test_its_figures_are_stored_as_small_pictures():
    outputs = [o for cell in code_cells(read(NOTEBOOK)) for o in cell["outputs"] if "data" in o]
    figures = [o["data"] for o in outputs if "<figure" in "".join(o["data"]["text/plain"])]
    assert len(figures) > 10
    assert all("".join(data["image/svg+xml"]).startswith("<svg") for data in figures)
    assert NOTEBOOK.stat().st_size < LARGEST_BYTES


def test_it_is_a_tidy_notebook():
    notebook = read(NOTEBOOK)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z-]{1,64}", name) for name in ids)
    counts = [cell["execution_count"] for cell in code_cells(notebook)]
    assert counts == list(range(1, len(counts) + 1))
    assert not re.search(r"/(tmp|home|work|root)/", NOTEBOOK.read_text(encoding="utf-8"))


def test_its_links_lead_somewhere():
    text = "".join("".join(cell["source"]) for cell in read(NOTEBOOK)["cells"])
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", text)
    assert links
    assert all((NOTEBOOK.parent / link).exists() for link in links)
