"""What happened: how much there was of everything, over time, and what changed most."""

from typing import Any, Final

from pfscope.report import draw, numbers
from pfscope.report.asking import Asking
from pfscope.report.digest import Digest, Measure
from pfscope.report.figure_changes import Change, largest_changes
from pfscope.report.lines import Line, Steps, lines_of
from pfscope.report.markup import Child, Markup, element, table

_CHANGES: Final = 6
_RISEN: Final = 1.5
"""So many times the usual are told at all."""
_NOTABLE: Final = 3.0
"""So many times the usual is told in the summary."""
_EXPLAINED: Final = 0.5


def tiles(digest: Digest) -> Markup:
    """Return the totals at a glance."""
    parts = [_tile(measure, digest) for measure in digest.measures]
    return element("dl", parts, cls="tiles")


def _tile(measure: Measure, digest: Digest) -> Markup:
    mean = digest.mean(digest.asking, measure.metric) or 0.0
    before = digest.mean(digest.before, measure.metric)
    against = (
        f"{numbers.factor(mean, before)} the {digest.word} before"
        if before and numbers.factor(mean, before) != "the same"
        else f"as the {digest.word} before" if before else measure.explained
    )  # fmt: skip
    return element(
        "div", element("dt", measure.title), element("dd", numbers.rate(mean, measure.unit)),
        element("dd", against),
    )  # fmt: skip


def what(digest: Digest) -> Markup:
    """Return the section."""
    return element(
        "section", element("h2", "What happened", id="what"),
        element("p", f"Total rates by file system, over the {digest.word}."),
        _over_time(digest), _by_filesystem(digest), _changes(digest),
    )  # fmt: skip


def _over_time(digest: Digest) -> Markup:
    results = [
        digest.asking.ask("totals", by="filesystem", operation=measure.metric)
        for measure in digest.measures
    ]
    steps = digest.asking.steps(*results)
    lines = [tuple(lines_of(result.table, ["filesystem"])) for result in results]
    panels = [
        draw.Panel(measure.title, draw.units(measure.unit), drawn)
        for measure, drawn in zip(digest.measures, lines, strict=True)
    ]
    told = [_peak(*each, steps) for each in zip(digest.measures, lines, strict=True)]
    caption = f"Highest: {'; '.join(t for t in told if t)}. Each step is " \
              f"{numbers.length(steps.length_us())} long."  # fmt: skip
    return digest.page.figure(draw.time_figure(panels, steps, panel_px=120), caption, caption)


def _peak(measure: Measure, lines: tuple[Line, ...], steps: Steps) -> str:
    if not lines:
        return ""
    line = max(lines, key=lambda line: line.peak)
    return (
        f"{measure.title.lower()} {numbers.rate(line.peak, measure.unit)} on "
        f"{draw.plain(line.name)} at {steps.at(line.peak_us)}"
    )


def _by_filesystem(digest: Digest) -> Markup:
    found: dict[str, list[str]] = {}
    for place, measure in enumerate(digest.measures):
        for row in digest.asking.totals(measure.metric).to_pylist():
            cells = found.setdefault(
                str(row["filesystem"]), [numbers.NOTHING] * len(digest.measures)
            )
            cells[place] = numbers.amount(row["total"], measure.unit)
    head = ["file system", *(measure.title for measure in digest.measures)]
    rows = [[name, *cells] for name, cells in found.items()]
    return table("Totals", head, rows, numeric=range(1, len(head)), heading=True)


def _changes(digest: Digest) -> Child:
    result = digest.asking.rates()
    lines = lines_of(result.table, ["target", "operation"])
    steps = digest.asking.steps(result)
    found = largest_changes(lines, steps, _CHANGES, again=True)
    found = [change for change in found if change.factor >= _RISEN]
    if not found:
        return element("p", "No rate rose far above its usual value.")
    rows = [_row(change, digest) for change in found]
    head = ("when", "target", "operation", "usual", "highest 10 min", "factor", "mostly by")
    return [
        table("Largest changes", head, rows, numeric=(3, 4, 5), heading=True),
        element(
            "p", "Rates of one operation on one target, by how much was done above their "
            "median, in terms of it. Of a rise on several targets the largest is told.",
        ),
    ]  # fmt: skip


def _row(change: Change, digest: Digest) -> list[Child]:
    who = _who(change, digest.asking)
    if change.factor >= _NOTABLE:
        digest.find([
            element("b", _when(change, digest)),
            f" {change.operation} on {_on(change)} rose to "
            f"{numbers.rate(change.busiest, change.unit)}, "
            f"{numbers.factor(change.busiest, change.usual)} the usual, mostly by {who}.",
        ])  # fmt: skip
    return [
        _when(change, digest), _on(change), change.operation,
        numbers.rate(change.usual, change.unit), numbers.rate(change.busiest, change.unit),
        numbers.factor(change.busiest, change.usual), who,
    ]  # fmt: skip


def _on(change: Change) -> str:
    """Say on which targets."""
    if not change.also:
        return change.target
    return f"{change.target} and {numbers.how_many(change.also, 'other')}"


def _when(change: Change, digest: Digest) -> str:
    if digest.word == "week":
        return numbers.span(change.start_us, change.end_us)
    return f"{numbers.clock(change.start_us)}–{numbers.clock(change.end_us)}"


def _who(change: Change, asking: Asking) -> str:
    """Name those who explain a change."""
    during = asking.during(change.start_us, change.end_us)
    words = {"operation": change.operation, "target": change.target}
    causes = during.maybe("causes", by=["user"], limit=3, **words)
    if causes is not None and len(causes):
        return _told(causes.to_pylist(), causes.about.get("verdict") == "many")
    rows = during.ask("top", by=["user"], limit=3, **words).to_pylist()
    return _told(rows, many=False)


def _told(rows: list[dict[str, Any]], many: bool) -> str:
    if many:
        return f"many users, first {_user(rows[0])}"
    enough, said = 0.0, []
    for row in rows:
        said.append(_user(row))
        enough += row["share"]
        if enough >= _EXPLAINED:
            break
    return numbers.listed(said)


def _user(row: dict[str, Any]) -> str:
    return f"{draw.whose(row['user'])} ({numbers.share(min(row['share'], 1.0))})"
