"""Makes the pictures of the page in docs/images, from a laboratory site with two incidents.

Run with `make screenshots`; it needs chromium, and takes about two minutes. The browser's clock is
that of the laboratory, so that the same sources make the same pictures.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import pfscope
from pfscope.report.browser import BROWSERS
from pfscope.watch.batch import watch
from pfscope.watch.book import Book

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
PFSCOPE = [sys.executable, "-m", "pfscope.cli.main"]
HOURS = 3
NOW = datetime(2022, 10, 27, HOURS, 0, 20, tzinfo=UTC)
INCIDENTS = [
    {"kind": "metadata_storm", "start": 5400, "duration_s": 3000, "factor": 12},
    {"kind": "hot_file", "start": 2400, "duration_s": 3000, "factor": 8},
]
WIDE, NARROW = (1280, 860), (390, 844)
MOST_BYTES = 150_000
DAY = "from=2022-10-27T00:00:00Z&to=2022-10-27T03:00:00Z"


def make_site(directory: Path) -> Path:
    """Let a Puhti-like site run for some hours, import it, and watch it."""
    dumps, data, wanted = directory / "dumps", directory / "data", directory / "incidents.json"
    wanted.write_text(json.dumps(INCIDENTS))
    size = ("--preset", "puhti", "--hours", str(HOURS))
    told = ("--incidents", str(wanted), "--frames")
    _run("lab", "dump", str(dumps), *size, *told)
    frames = sorted(map(str, dumps.glob("*/*.pfl")))
    _run("import", "frames", *frames, "--data", str(data))
    _run("import", "slurm", str(dumps / "slurm" / "sacct.txt"), "--data", str(data))
    end_us = int(NOW.timestamp()) * 10**6
    with pfscope.open(data) as opened:
        for incident in watch(opened, end_us - HOURS * 3600 * 10**6, end_us):
            Book(data).keep(incident)
    return data


def _run(*arguments: str) -> None:
    command = [*PFSCOPE, *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - of ours


def take_all(browser: Browser, url: str) -> None:
    """Take every picture."""
    storm = f"{DAY}&rows=target&a=2022-10-27T01:30:00Z&b=2022-10-27T02:20:00Z"
    during = "at=2022-10-27T01:40:00Z"
    with_dark = _window(browser, url, WIDE, "dark")
    light = _window(browser, url, WIDE, "light")
    phone = _window(browser, url, NARROW, "light")
    _take(light, "/", "page-now")
    _take(with_dark, f"/?by=job&metric=metadata&{during}", "page-then")
    _take(light, f"/history?{storm}", "page-history", whole=True)
    _take(light, "/incidents?span=all", "page-incidents", follow="Metadata storm")
    _take(phone, "/", "page-phone")
    user = light.evaluate("fetch('/api/v1/incidents?from=1970-01-01').then(r => r.json())")
    name = user["incidents"][-1]["causes"][0]["user"]
    _take(light, f"/mine?name={name}", "page-mine")


def _window(browser: Browser, url: str, size: tuple[int, int], scheme: str) -> Page:
    width, height = size
    context = browser.new_context(
        base_url=url, viewport={"width": width, "height": height}, color_scheme=scheme
    )
    page = context.new_page()
    page.clock.set_fixed_time(NOW)
    return page


def _take(page: Page, path: str, name: str, follow: str = "", whole: bool = False) -> None:
    page.goto(path)
    if follow:
        page.get_by_role("link", name=follow).first.click()
        page.wait_for_selector(f"h1:has-text('{follow}')")
    page.wait_for_selector("main .view")
    page.wait_for_function("() => !document.querySelector('main .waiting')")
    page.wait_for_load_state("load")
    page.wait_for_timeout(1500)  # small lines and the slider come last
    file = IMAGES / f"{name}.png"
    page.screenshot(path=file, full_page=whole, animations="disabled")
    with Image.open(file) as picture:
        few = picture.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE)
        few.save(file, optimize=True)
    size = file.stat().st_size
    print(f"{file.name:20} {size / 1000:6.0f} kB")
    if size > MOST_BYTES:
        raise SystemExit(f"{file.name} is too large")


def main() -> int:
    """Make all pictures."""
    browser_path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser_path is None:
        raise SystemExit("install chromium")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        data = make_site(Path(directory))
        command = [*PFSCOPE, "serve", "--data", str(data), "--listen", "127.0.0.1:0"]
        with subprocess.Popen(  # noqa: S603 - of ours
            command, stdout=subprocess.PIPE, text=True
        ) as server:
            try:
                assert server.stdout is not None
                url = "http://" + server.stdout.readline().split("http://")[1].split(",")[0]
                with sync_playwright() as driver:
                    browser = driver.chromium.launch(
                        executable_path=browser_path, args=["--no-sandbox"]
                    )
                    take_all(browser, url)
                    browser.close()
            finally:
                server.terminate()
                server.wait(30)
    return 0


if __name__ == "__main__":
    sys.exit(main())
