"""How unusual: the period against the one before it and the same day a week before."""

from typing import Final

from pfscope.report import draw, numbers
from pfscope.report.asking import Asking
from pfscope.report.digest import Digest
from pfscope.report.markup import Child, Markup, element, table

_TOP: Final = 10
_NOTABLE: Final = 2.0


def unusual(digest: Digest) -> Markup:
    """Return the section; it says so where there is nothing to compare with."""
    pasts = [("before", digest.before), ("a week before", digest.week_before)]
    known = [(name, past) for name, past in pasts if past is not None]
    head = element("h2", "How unusual", id="unusual")
    if not known:
        said = f"There is no data of the {digest.word} before: nothing to compare with yet."
        return element("section", head, element("p", said))
    named = [f"the {digest.word} {name}" for name, _ in known]
    return element(
        "section", head,
        element("p", f"Mean rates, beside those of {numbers.listed(named)}."),
        _against(digest, known), [_partly(name, past, digest) for name, past in known],
        _newcomers(digest, known[0][1]),
    )  # fmt: skip


def _against(digest: Digest, known: list[tuple[str, Asking]]) -> Markup:
    head = ["", f"this {digest.word}"]
    for name, _ in known:
        head += [name, "now is"]
    rows: list[list[Child]] = []
    for measure in digest.measures:
        now = digest.mean(digest.asking, measure.metric)
        cells: list[Child] = [measure.title, numbers.rate(now, measure.unit)]
        for name, past in known:
            then = digest.mean(past, measure.metric)
            cells += [numbers.rate(then, measure.unit), numbers.factor(now, then)]
            if name == "before" and now and then and not 1 / _NOTABLE < now / then < _NOTABLE:
                digest.find(
                    f"{measure.title}: {numbers.rate(now, measure.unit)} on average, "
                    f"{numbers.factor(now, then)} the {digest.word} before."
                )
        rows.append(cells)
    return table("Against the past", head, rows, numeric=range(1, len(head)))


def _partly(name: str, past: Asking, digest: Digest) -> Markup | None:
    """Say so where the past was observed in part only."""
    seen = past.end_us - past.start_us
    if seen > 0.95 * digest.length_us:
        return None
    said = (
        f"Of the {digest.word} {name} there is data of {numbers.length(seen)} only, "
        f"{numbers.span(past.start_us, past.end_us)}."
    )
    return element("p", said)


def _newcomers(digest: Digest, past: Asking) -> Markup | None:
    """Name those who are among the first now and were not before."""
    said = []
    for measure in digest.measures[:3]:
        now, then = ([
            row["user"]
            for row in asking.ask("top", by=["user"], operation=measure.metric, limit=n).to_pylist()
        ] for asking, n in ((digest.asking, _TOP), (past, 2 * _TOP)))  # fmt: skip
        fresh = [draw.plain(user) for user in now if user not in then]
        if fresh:
            said.append(element("li", f"{measure.title}: {numbers.listed(fresh)}"))
    if not said:
        return None
    return element(
        "div", element("h3", "New among the first"),
        element("p", f"Users among the first {_TOP} who were not of the first {2 * _TOP} before."),
        element("ul", said),
    )  # fmt: skip
