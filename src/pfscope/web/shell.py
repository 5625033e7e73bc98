"""The one document of the page: head, skip link, and the place where views are shown."""

from collections.abc import Sequence
from typing import Final

import pfscope
from pfscope.report.markup import Markup, element

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_STYLES: Final = ("colours", "page")
_NO_SCRIPT: Final = (
    "This page draws what the server answers, and needs JavaScript for it. "
    "The same is to be had with `pfscope top` and `pfscope query`."
)


def shell(place: str, modules: Sequence[str]) -> str:
    """Return the document; the files of the page lie at `place`, a path that ends in a slash.

    Modules are named at once, so that a browser need not find them one behind another.
    """
    head = [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", "pfscope"),
        element("link", rel="icon", href=f"{place}icon.svg", type="image/svg+xml"),
        element("script", src=f"{place}theme.js"),
        [element("link", rel="stylesheet", href=f"{place}{name}.css") for name in _STYLES],
        [element("link", rel="modulepreload", href=place + name) for name in modules],
        element("script", src=f"{place}main.js", type="module"),
    ]
    body = [
        element("a", "Skip to the content", href="#content", cls="skip"),
        element("header", id="top"),
        element("main", id="content", tabindex="-1"),
        element("footer", element("p", f"pfscope {pfscope.__version__}. Times are UTC.")),
        element("noscript", element("p", _NO_SCRIPT)),
        element("div", id="tip", role="presentation", hidden="hidden"),
        element("div", id="said", role="status", aria_live="polite", cls="unseen"),
    ]
    whole = element("html", element("head", head), element("body", body), lang="en")
    return Markup(f"<!DOCTYPE html>\n{whole}\n")
