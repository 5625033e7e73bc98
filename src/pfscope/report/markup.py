"""HTML by construction: elements are made here, and whatever is not one is escaped on its way in.

So a page cannot hold a text that is not escaped, unless it says `Markup(…)` of a constant.
"""

from collections.abc import Iterable
from typing import Any, Final

from pfscope.untrusted import html_text

_VOID: Final = {"meta", "link", "hr", "br", "input"}


class Markup(str):
    """HTML that is whole and safe."""

    __slots__ = ()


Child = str | Iterable["Child"] | None


def element(name: str, /, *children: Child, **attributes: Any) -> Markup:
    """Return an element; `cls` is the class, `_` in a name stands for `-`, None leaves it out.

    >>> element("p", "a < b", element("b", "c"), cls="big", data_x='"')
    '<p class="big" data-x="&quot;">a &lt; b<b>c</b></p>'
    """
    written = "".join(
        f' {_attribute(key)}="{html_text(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{joined(children)}</{name}>")


def joined(children: Child) -> Markup:
    """Return children as HTML: text escaped, elements as they are, None left out."""
    if children is None:
        return Markup("")
    if isinstance(children, Markup):
        return children
    if isinstance(children, str):
        return Markup(html_text(children))
    return Markup("".join(joined(child) for child in children))


def _attribute(key: str) -> str:
    return "class" if key == "cls" else key.strip("_").replace("_", "-")


def table(
    caption: str,
    head: Iterable[str],
    rows: Iterable[Iterable[Child]],
    *,
    numeric: Iterable[int],
    heading: bool = False,
) -> Markup:
    """Return a table; the columns with these indices hold numbers, the first names the row.

    With `heading` the caption is one that readers can go to.
    """
    right = set(numeric)
    titles = [
        element("th", title, scope="col", cls="number" if i in right else None)
        for i, title in enumerate(head)
    ]
    body = [element("tr", [_cell(i, value, right) for i, value in enumerate(row)]) for row in rows]
    whole = element(
        "table", element("caption", element("h3", caption) if heading else caption),
        element("thead", element("tr", titles)),
        element("tbody", body),
    )  # fmt: skip
    return element("div", whole, cls="scroll", tabindex="0", role="region", aria_label=caption)


def _cell(index: int, value: Child, right: set[int]) -> Markup:
    if index == 0:
        return element("th", value, scope="row", cls="number" if 0 in right else None)
    return element("td", value, cls="number" if index in right else None)
