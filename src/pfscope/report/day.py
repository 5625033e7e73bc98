"""`pfscope report day|week`: one page for an administrator's morning."""

from typing import Any, Final

from pfscope.query.data import Data
from pfscope.report.digest import Digest, digest
from pfscope.report.markup import Markup, element
from pfscope.report.section_quality import quality
from pfscope.report.section_unusual import unusual
from pfscope.report.section_what import tiles, what
from pfscope.report.section_where import where
from pfscope.report.section_who import who

DAYS: Final = {"day": 1, "week": 7}
_SECTIONS: Final = (
    ("what", "What happened", what),
    ("who", "Who", who),
    ("where", "Where", where),
    ("unusual", "How unusual", unusual),
    ("quality", "Data quality", quality),
)


def report(data: Data, period: str, date: str | None, words: dict[str, Any]) -> str:
    """Return the page of a day or a week."""
    made = digest(data, date, DAYS[period], words)
    glance = tiles(made)
    sections = [section(made) for _, _, section in _SECTIONS]
    body = [_summary(made), glance, sections]
    return made.page.html(body, [(name, title) for name, title, _ in _SECTIONS])


def _summary(made: Digest) -> Markup:
    """Return what was found, warnings last; written when all sections are made."""
    found = sorted(made.findings, key=lambda finding: finding.level == "warn")
    if not found:
        quiet = f"Nothing stood out this {made.word}."
        return element("ul", element("li", quiet), cls="summary")
    lines = [element("li", finding.text, cls=finding.level) for finding in found]
    return element("ul", lines, cls="summary", aria_label="In short")
