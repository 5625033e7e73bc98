"""A page: one HTML file, whole by itself, in light and dark, on paper and for screen readers.

Its policy lets nothing run but the scripts that were written into it, known by their digests, and
nothing be fetched. Figures travel as data blocks, which no text in them can end.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Final

import plotly.graph_objects as go

import pfscope
from pfscope.report import palette
from pfscope.report.markup import Child, Markup, element, joined
from pfscope.untrusted import script_data

PLOTLY_FILE: Final = "plotly.min.js"


@dataclass
class Page:
    """A page in the making: figures get their numbers as they are added."""

    title: str
    subtitle: str = ""
    shared_plotly: bool = False
    """Plotly lies beside the page, as a file of its own, for many pages."""
    figures: list[go.Figure] = field(default_factory=list)
    scripts: tuple[str, ...] = ()
    """Files beside this module with scripts of its own sections."""
    styles: tuple[str, ...] = ()

    def figure(self, drawn: go.Figure, what: str, caption: Child) -> Markup:
        """Return a figure's place; `what` says in words what is to be seen there."""
        name = f"figure-{len(self.figures)}"
        self.figures.append(drawn)
        height = f"min-height:{int(drawn.layout.height or 300)}px"
        place = element(
            "div", cls="drawing", id=f"{name}-drawing", data_figure=name, role="img",
            aria_label=what, style=height,
        )  # fmt: skip
        return element("figure", place, element("figcaption", caption))

    def html(self, body: Child, navigation: Sequence[tuple[str, str]] = ()) -> str:
        """Return the page with the parts of its body; `navigation` is (id, title) of sections."""
        blocks, scripts = self._data(), self._scripts()
        head = [
            element("meta", charset="utf-8"),
            element("meta", http_equiv="Content-Security-Policy", content=self._policy()),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="generator", content=f"pfscope {pfscope.__version__}"),
            element("meta", name="referrer", content="no-referrer"),
            element("title", self.title),
            *[Markup(f"<style>{static(name)}</style>") for name in ("page.css", *self.styles)],
        ]
        content = [
            element("a", "Skip to the content", href="#content", cls="skip"),
            element(
                "header", element("h1", self.title), element("p", self.subtitle), _nav(navigation)
            ),
            element("main", body, id="content"),
            element(
                "footer", element("p", f"Made by pfscope {pfscope.__version__}. Times are UTC.")
            ),
            blocks, scripts,
        ]  # fmt: skip
        whole = element("html", element("head", head), element("body", content), lang="en")
        return f"<!DOCTYPE html>\n{whole}\n"

    def _data(self) -> Markup:
        """Return figures as blocks that are not run."""
        if not self.figures:
            return Markup("")
        texts = [(f"figure-{i}", figure_json(f)) for i, f in enumerate(self.figures)]
        texts.append(("dark-colours", json.dumps(palette.dark())))
        return Markup("".join(
            f'<script type="application/json" id="{name}">{script_data(text)}</script>\n'
            for name, text in texts
        ))  # fmt: skip

    def _scripts(self) -> Markup:
        own = [Markup(f"<script>{static(name)}</script>") for name in self.scripts]
        if not self.figures:
            return joined(own)
        drawing = Markup(f"<script>{static('page.js')}</script>")
        if self.shared_plotly:
            return joined([element("script", src=PLOTLY_FILE), drawing, *own])
        return joined([Markup(f"<script>{plotly_js()}</script>\n"), drawing, *own])

    def _policy(self) -> str:
        scripts = [digest(static(name)) for name in self.scripts]
        if self.figures:
            scripts.append(digest(static("page.js")))
        if self.figures:
            scripts.insert(0, "'self' file:" if self.shared_plotly else digest(plotly_js()))
        allowed = " ".join(scripts) or "'none'"
        return (
            f"default-src 'none'; script-src {allowed}; "
            "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
        )


def figure_json(figure: go.Figure) -> str:
    """Return a figure as Plotly reads it."""
    text: str = figure.to_json(validate=False)
    return text


@cache
def static(name: str) -> str:
    """Return a file that is shipped beside this module."""
    return resources.files(__package__).joinpath("static", name).read_text(encoding="utf-8")


@cache
def plotly_js() -> str:
    """Return Plotly's own script, which its package carries."""
    from plotly.offline import get_plotlyjs

    script: str = get_plotlyjs()
    return script


def digest(script: str) -> str:
    """Return by what a policy knows an inline script."""
    hashed = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(hashed).decode()}'"


def _nav(sections: Sequence[tuple[str, str]]) -> Markup | None:
    if not sections:
        return None
    links = [element("li", element("a", title, href=f"#{name}")) for name, title in sections]
    return element("nav", element("ul", links), aria_label="Sections")
