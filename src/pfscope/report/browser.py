"""Figures as PNG or SVG: drawn by an installed browser, without a window and without a network.

One run of the browser draws all figures of a page, which writes each as text into itself; what it
has written is then read from the browser's dump of the page. Nothing else of the dump is used.
"""

import base64
import binascii
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Final

import plotly.graph_objects as go

from pfscope.errors import InputError
from pfscope.report.markup import Markup, element, joined
from pfscope.report.page import digest, figure_json, plotly_js, static
from pfscope.untrusted import script_data

BROWSERS: Final = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
WIDTH: Final = 1000
_SECONDS_AT_MOST: Final = 300
_VIRTUAL_MS: Final = 120_000
_SWITCHES: Final = (
    "--headless=new", "--disable-gpu", "--no-first-run", "--disable-extensions",
    "--disable-background-networking", "--disable-sync", "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--hide-scrollbars",
)  # fmt: skip
AS_ROOT: Final = ("--no-sandbox",) if os.geteuid() == 0 else ()
"""Chromium has no sandbox for root and does not start with one; what it draws is a page of ours."""
_DRAWN: Final = re.compile(r'<pre class="drawn">([^<]*)</pre>')


def find_browser() -> str:
    """Return a browser that can draw, or say what to install."""
    for name in BROWSERS:
        found = shutil.which(name)
        if found:
            return found
    raise InputError(
        "PNG and SVG are drawn by a browser and none is installed: install chromium, or take "
        "--format html"
    )


def images(figures: Sequence[go.Figure], style: str, browser: str | None = None) -> list[bytes]:
    """Return each figure as an image; `style` is png or svg."""
    browser = browser or find_browser()
    with tempfile.TemporaryDirectory(prefix="pfscope-report-") as place:
        page = Path(place) / "figures.html"
        page.write_text(_page(figures, style), encoding="utf-8")
        dumped = _dump(browser, page, Path(place) / "profile")
    found = [_image(unescape(text), style) for text in _DRAWN.findall(dumped)]
    if len(found) != len(figures):
        raise InputError(
            f"{browser} drew {len(found)} of {len(figures)} figures: try --format html"
        )
    return found


def _page(figures: Sequence[go.Figure], style: str) -> str:
    """Return the page that draws: no script but ours runs in it, nothing can be fetched."""
    scripts = [plotly_js(), static("images.js")]
    allowed = " ".join(digest(script) for script in scripts)
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"
    )
    wanted = json.dumps({"format": style, "width": WIDTH, "scale": 2 if style == "png" else 1})
    texts = [wanted, *(figure_json(figure) for figure in figures)]
    blocks = [
        Markup(f'<script type="application/json">{script_data(text)}</script>') for text in texts
    ]
    head = [
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
    ]
    code = [Markup(f"<script>{script}</script>") for script in scripts]
    return f"<!DOCTYPE html>\n{joined([head, element('body', blocks, code)])}\n"


def _dump(browser: str, page: Path, profile: Path) -> str:
    command = [
        browser, *_SWITCHES, *AS_ROOT, f"--user-data-dir={profile}",
        f"--virtual-time-budget={_VIRTUAL_MS}", "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command; the page is ours
            command, capture_output=True, text=True, timeout=_SECONDS_AT_MOST, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"{browser} could not draw: {error}") from error
    if done.returncode:
        reason = done.stderr.strip().splitlines()
        raise InputError(f"{browser} could not draw: {reason[-1] if reason else done.returncode}")
    return done.stdout


def _image(text: str, style: str) -> bytes:
    """Return an image from what the page wrote of it, a data URI in base64."""
    kind, _, data = text.partition(";base64,")
    try:
        if kind == f"data:image/{'svg+xml' if style == 'svg' else style}":
            return base64.b64decode(data, validate=True)
    except binascii.Error:
        pass
    raise InputError(f"the browser could not draw a figure: {text[:200]}")
