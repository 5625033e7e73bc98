"""Who: users and jobs that did most, of each metric, with their shares."""

from collections.abc import Sequence
from typing import Any, Final

from pfscope.report import draw, numbers, palette
from pfscope.report.digest import Digest, Measure
from pfscope.report.lines import Name, lines_of
from pfscope.report.markup import Markup, element, table
from pfscope.report.plot import largest

_SHOWN: Final = 8
_LINES: Final = 4
_WHOLE: Final = {
    "metadata": "the metadata load", "read_bytes": "all that was read",
    "write_bytes": "all that was written", "iops": "all requests",
}  # fmt: skip
_NOTABLE: Final = 0.3
"""Of all: who has more is told in the summary."""


def who(digest: Digest) -> Markup:
    """Return the section."""
    chosen = digest.measures
    return element(
        "section", element("h2", "Who", id="who"),
        element("p", "Users and jobs by mean rate; shares are of all, system users included."),
        _over_time(digest, digest.measures[:3]),
        element("h3", "Users"), element("div", [_users(digest, m) for m in chosen], cls="columns"),
        element("h3", "Jobs"), element("div", [_jobs(digest, m) for m in chosen], cls="columns"),
    )  # fmt: skip


def _over_time(digest: Digest, measures: Sequence[Measure]) -> Markup:
    panels: list[draw.Panel] = []
    places: dict[Name, int] = {}
    results = [digest.asking.ask("series", by="user", operation=m.metric) for m in measures]
    steps = digest.asking.steps(*results)
    for measure, result in zip(measures, results, strict=True):
        lines = largest(lines_of(result.table, ["user"]), _LINES)
        for line in lines:
            if line.name != draw.OTHERS:
                places.setdefault(line.name, len(places))
        colours = tuple(palette.line(places.get(line.name, 0)) for line in lines)
        panels.append(
            draw.Panel(measure.title, draw.units(measure.unit), tuple(lines), colours=colours)
        )
    caption = (
        f"Rates of the {numbers.count(_LINES)} users with most of each, and of all others together "
        "in grey. A user has one colour throughout."
    )
    return digest.page.figure(draw.time_figure(panels, steps, panel_px=170), caption, caption)


def _users(digest: Digest, measure: Measure) -> Markup:
    result = digest.asking.ask("top", by=["user"], operation=measure.metric, limit=_SHOWN)
    rows = result.to_pylist()
    if rows and (rows[0]["share"] or 0) >= _NOTABLE:
        who = draw.whose(rows[0]["user"])
        digest.find(
            f"{who[0].upper()}{who[1:]} had {numbers.share(rows[0]['share'])} of "
            f"{_WHOLE[measure.metric]}, "
            f"{numbers.rate(rows[0]['rate_mean'], measure.unit)} on average."
        )
    return _ranking(f"{measure.title}, by user", ["user"], rows, measure)


def _jobs(digest: Digest, measure: Measure) -> Markup:
    keys = ["job", "user"]
    result = digest.asking.ask("top", by=keys, operation=measure.metric, limit=_SHOWN)
    return _ranking(f"{measure.title}, by job", keys, result.to_pylist(), measure)


def _ranking(
    caption: str, keys: Sequence[str], rows: Sequence[dict[str, Any]], measure: Measure
) -> Markup:
    head = [*keys, "mean", "highest", "share", ""]
    cells = [
        [
            *(draw.plain(row[key]) for key in keys),
            numbers.rate(row["rate_mean"], measure.unit),
            numbers.rate(row["rate_max"], measure.unit),
            numbers.share(row["share"]),
            part(row["share"] or 0.0),
        ]
        for row in rows
    ]
    first = len(keys)
    return table(caption, head, cells, numeric=range(first, first + 3))


def part(share: float) -> Markup:
    """Return a share as a bar, which says nothing that is not said beside it."""
    bar = element("rect", width=f"{100 * share:.1f}", height="1")
    drawn = element("svg", bar, viewBox="0 0 100 1", preserveAspectRatio="none", aria_hidden="true")
    return element("span", drawn, cls="part")
