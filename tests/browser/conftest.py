"""A real browser for tests of the page, and what it noticed: requests, the console, dialogs."""

import shutil
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from pfscope.report.browser import BROWSERS
from tests.support.page_world import make_page_store, page_server

BROWSER = next((found for name in BROWSERS if (found := shutil.which(name))), None)
DESKTOP = {"width": 1366, "height": 900}
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="session")
def chromium():
    if BROWSER is None:
        pytest.skip("no browser is installed: chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with page_server(make_page_store(tmp_path_factory.mktemp("data"))) as world:
        yield world


class Reader:
    """One window on a server, and all that went wrong in it."""

    def __init__(self, page, url):
        self.page, self.url = page, url
        self.hosts, self.faults = set(), []
        page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("dialog", lambda dialog: (self.faults.append(dialog.message), dialog.dismiss()))
        page.set_default_timeout(15000)

    def _said(self, message):
        if message.type in ("error", "warning"):
            self.faults.append(f"{message.text} {message.location}")

    def visit(self, address="/"):
        """Go there, and wait until all of it is shown."""
        self.page.goto(self.url + address)
        self.settle()
        return self.page

    def settle(self):
        self.page.wait_for_selector("main .view, main .notice")
        self.page.wait_for_function("() => !document.querySelector('main .waiting')")

    def text(self, selector="main"):
        return self.page.inner_text(selector)

    def is_untouched(self):
        """Check that no request left the machine, and that nothing complained."""
        assert self.hosts <= {urlsplit(self.url).netloc, ""}
        faults, self.faults = self.faults, []
        assert faults == []


@contextmanager
def window(chromium, url, *, scheme="light", size=DESKTOP, check=True, **more):
    context = chromium.new_context(color_scheme=scheme, viewport=size, **more)
    try:
        reader = Reader(context.new_page(), url)
        yield reader
        if check:
            reader.is_untouched()
    finally:
        context.close()


@pytest.fixture(scope="module")
def opened(chromium, world):
    with window(chromium, world.url) as reader:
        yield reader


@pytest.fixture
def reader(opened):
    """A window that all tests of a module share; each ends with it untouched."""
    yield opened
    opened.is_untouched()
