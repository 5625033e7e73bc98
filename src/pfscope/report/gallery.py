"""A directory of figures: a page for each, Plotly once beside them, an index with thumbnails."""

from collections.abc import Callable, Iterable
from pathlib import Path

from pfscope.errors import InputError
from pfscope.report import numbers
from pfscope.report.asking import Asking
from pfscope.report.drawing import Drawing
from pfscope.report.markup import Markup, element, table
from pfscope.report.page import PLOTLY_FILE, Page, plotly_js
from pfscope.report.thumbnail import thumbnail

INDEX = "index.html"


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file whole."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        else:
            path.write_bytes(content)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error


def write_gallery(out: Path, drawings: Iterable[Drawing], asking: Asking) -> list[Drawing]:
    """Write the pages and the index; return the drawings."""
    when = period_of(asking)
    write_file(out / PLOTLY_FILE, plotly_js())
    made = []
    for drawing in drawings:
        write_file(out / f"{drawing.name}.html", figure_page(drawing, when))
        made.append(drawing)
    write_file(out / INDEX, index_page(made, when, lambda drawing: f"{drawing.name}.html"))
    return made


def period_of(asking: Asking) -> str:
    """Return the period that figures are of."""
    return numbers.span(asking.start_us, asking.end_us)


def figure_page(drawing: Drawing, when: str) -> str:
    """Return the page of one figure."""
    page = Page(drawing.title, when, shared_plotly=True)
    body = [page.figure(drawing.figure, drawing.caption, drawing.caption)]
    if drawing.rows:
        body.append(
            element("details", element("summary", "The same in numbers"), numbers_table(drawing))
        )
    body.append(element("p", element("a", "All figures", href=INDEX)))
    return page.html(body)


def numbers_table(drawing: Drawing) -> Markup:
    """Return the numbers of a figure as a table."""
    numeric = [i for i, name in enumerate(drawing.head) if name in ("mean", "highest", "at")]
    return table(drawing.title, drawing.head, drawing.rows, numeric=numeric)


def index_page(drawings: Iterable[Drawing], when: str, file_of: Callable[[Drawing], str]) -> str:
    """Return the page that leads to all figures."""
    cards = [
        element("li", element(
            "a", thumbnail(drawing.figure), element("h3", drawing.title), href=file_of(drawing),
        ), element("p", drawing.gist))
        for drawing in drawings
    ]  # fmt: skip
    page = Page("Figures", when)
    return page.html(element("ul", cards, cls="cards"))
