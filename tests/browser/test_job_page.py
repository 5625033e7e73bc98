"""The page on a run in a real browser: drawn, silent, without a network, deaf to hostile names."""

import re
import shutil
import subprocess

import pytest

from pfscope.cli.main import main
from pfscope.report.browser import AS_ROOT, BROWSERS
from tests.support.mine_runs import lake_of_run
from tests.support.mine_tables import written
from tests.support.report_store import HOSTILE, Seen

BROWSER = next((found for name in BROWSERS if (found := shutil.which(name))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no browser is installed: chromium")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    given = [
        written(i, i + 1.5, 2**20, name=f"/lus/{name}", osts=bytes([1 << i % 8]), ost_count=1)
        for i, name in enumerate(HOSTILE)
    ]
    lake = lake_of_run(folder / "lake", given, {"executable": HOSTILE[0], "user": HOSTILE[2]})
    assert main(["mine", "job", "17", "--lake", str(lake), "--out", str(folder / "job.html")]) == 0
    return folder / "job.html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_drawn_and_nothing_in_it_runs(page, scheme, tmp_path):
    dark = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    command = [
        BROWSER, "--headless=new", "--disable-gpu", "--no-first-run", *AS_ROOT, *dark,
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        f"--user-data-dir={tmp_path / 'profile'}", f"--log-net-log={tmp_path / 'net.json'}",
        "--enable-logging=stderr", "--virtual-time-budget=20000", "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr[-500:]
    seen = Seen(done.stdout)
    places = [a for _, a in seen.tags if "data-figure" in a]
    assert len(places) == 2
    assert [a["id"] for a in places if "drawn" not in a["class"].split()] == []
    assert done.stdout.count('class="main-svg"') >= 2
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    asked = re.findall(r'"url":"(?:https?|wss?)://[^"]*"', (tmp_path / "net.json").read_text())
    assert [url for url in asked if "google" not in url] == []
    assert "<title>pwned" not in done.stdout
    assert not [a for tag, a in seen.tags if tag == "img" and "onerror" in a]
