"""Pages in a real browser: drawn, silent, without a network, and deaf to hostile names.

They need chromium (or another of the browsers that `report` drives) on PATH.
"""

import re
import shutil
import struct
import subprocess
from html import unescape

import pytest

import pfscope
from pfscope.report.asking import Asking
from pfscope.report.browser import AS_ROOT, BROWSERS, images
from pfscope.report.day import report
from pfscope.report.figures import figures
from pfscope.report.gallery import write_gallery
from pfscope.report.page import Page
from tests.support.report_store import HOSTILE, Seen, hostile_store

BROWSER = next((found for name in BROWSERS if (found := shutil.which(name))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no browser is installed: chromium")


class Visit:
    """What a browser made of a page: its elements, its console, and what it asked the network."""

    def __init__(self, path, folder, *switches):
        log = folder / "net.json"
        command = [
            BROWSER, "--headless=new", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", "--disable-sync", "--disable-component-update",
            f"--user-data-dir={folder / 'profile'}", f"--log-net-log={log}",
            "--enable-logging=stderr", "--virtual-time-budget=30000", *AS_ROOT, *switches,
            "--dump-dom", path.as_uri(),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=180)
        assert done.returncode == 0, done.stderr[-500:]
        self.html = done.stdout
        self.seen = Seen(done.stdout)
        self.console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        requests = re.findall(r'"url":"(?:https?|wss?)://[^"]*"', log.read_text())
        self.asked = [url for url in requests if "google" not in url]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    with pfscope.open(hostile_store(tmp_path_factory.mktemp("store"), days=(0, 1))) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "day.html"
    path.write_text(report(data, "day", "2022-10-28", {}), encoding="utf-8")
    return path


@pytest.fixture(scope="module", params=["light", "dark", "phone"])
def visit(request, page, tmp_path_factory):
    switches = {
        "light": ["--window-size=1200,900"],
        "dark": ["--window-size=1200,900", "--blink-settings=preferredColorScheme=0"],
        "phone": ["--window-size=500,900"],
    }[request.param]
    return Visit(page, tmp_path_factory.mktemp(request.param), *switches)


def test_every_figure_is_drawn(visit):
    places = [a for _, a in visit.seen.tags if "data-figure" in a]
    assert len(places) >= 5
    assert [a["id"] for a in places if "drawn" not in a["class"].split()] == []
    assert visit.html.count('class="main-svg"') >= len(places)


def test_the_console_is_silent_and_the_network_unused(visit):
    assert visit.console == []
    assert visit.asked == []


def test_no_name_does_anything(visit):
    assert "pwned" not in visit.html.split("<title>")[1].split("</title>")[0]
    assert not visit.seen.all("img")
    assert not [a for _, a in visit.seen.tags if "onerror" in a or "onmouseover" in a]
    links = [a.get("href") or a.get("xlink:href") or "" for a in visit.seen.all("a")]
    assert not [link for link in links if "javascript" in link]


def test_names_in_figures_are_seen_as_they_are(data, tmp_path):
    page = Page("Names")
    drawn = [data.ask(name, by="user", operation="open").plot() for name in ("series", "top")]
    path = tmp_path / "names.html"
    path.write_text(page.html([page.figure(one, "Names", "Names") for one in drawn]))
    visit = Visit(path, tmp_path)
    for found in ('class="legendtext"', 'class="ytick"'):
        texts = re.findall(rf"<[^>]*{found}[^>]*>(.*?)</text>", visit.html)
        assert {unescape(re.sub(r"<[^>]*>", "", text)) for text in texts} >= set(HOSTILE)
    assert not visit.seen.all("img")
    assert not visit.seen.all("a")[1:]
    assert visit.console == []


def test_colours_follow_the_reader(page, tmp_path):
    dark = Visit(page, tmp_path, "--blink-settings=preferredColorScheme=0")
    assert "rgb(118, 177, 240)" in dark.html
    assert "stroke: rgb(37, 99, 168)" not in dark.html


def test_a_figure_of_a_gallery_finds_plotly_beside_it(data, tmp_path):
    asking = Asking(data)
    write_gallery(tmp_path / "figures", figures(asking), asking)
    visit = Visit(tmp_path / "figures" / "16-ost-read_bytes-write_bytes.html", tmp_path)
    assert visit.console == []
    assert 'class="main-svg"' in visit.html


def test_images_are_those_of_the_figures(data):
    drawn = [drawing.figure for drawing in figures(Asking(data))][:3]
    for image, figure in zip(images(drawn, "png"), drawn, strict=True):
        width, height = struct.unpack(">II", image[16:24])
        assert image.startswith(b"\x89PNG")
        assert (width, height) == (2000, 2 * figure.layout.height)
    for image in images(drawn, "svg"):
        assert image.startswith(b"<svg")
        assert b"<script" not in image
