"""One page on a run: what held it up, its files and OSTs, its factors beside those of its peers."""

from typing import Final

import numpy as np

from pfscope.mine.explain import findings, top_files
from pfscope.mine.explain_facts import Facts, Finding
from pfscope.mine.factors import MIB
from pfscope.mine.factors_cohort import standing
from pfscope.mine.sweep_files import numbers as values_of
from pfscope.report import draw, numbers
from pfscope.report.figure_path import path_figure
from pfscope.report.markup import Markup, element, table
from pfscope.report.page import Page
from pfscope.report.section_servers_of_job import servers
from pfscope.report.section_who import part

_OSTS: Final = 24
_CLASSES: Final = {"critical": "warn", "warning": "warn", "info": None, "good": "notable"}
_FACTORS: Final = {
    "small_pct": "small accesses, %", "nonconsec_pct": "accesses that are not consecutive, %",
    "coll_pct": "collective, %", "ost_count": "OSTs", "proc_per_ost": "processes per OST",
    "misaligned_pct": "accesses that are not aligned, %", "imbalance_pct": "imbalance of ranks, %",
    "metadata_pct": "time in metadata, %", "idle_pct": "idle between accesses, %",
    "files_at_once": "files in use at once", "top_file_pct": "time of one file, %",
    "bandwidth_critical_mib_s": "bandwidth over the critical path, MiB/s",
}  # fmt: skip


def job_page(facts: Facts) -> str:
    """Return the page."""
    run = facts.run
    page = Page(
        f"Job {run['job_id']}: {draw.plain(run['executable'])}",
        f"{run['operation']}s of {numbers.how_many(run['nprocs'], 'process')}, begun"
        f" {run['start']:%Y-%m-%d %H:%M:%S}".replace("processs", "processes"),
    )
    sections = [
        ("found", "What was found", _found(facts)),
        ("path", "Critical path", _path(page, facts)),
        ("osts", "OSTs", _osts(page, facts)),
        ("servers", "Both sides", servers(page, facts)),
        ("factors", "Factors", _factors(facts)),
    ]
    told = [(name, title, content) for name, title, content in sections if content is not None]
    body = [_tiles(facts)] + [
        element("section", element("h2", title, id=name), content) for name, title, content in told
    ]
    return page.html(body, [(name, title) for name, title, _ in told])


def _tiles(facts: Facts) -> Markup:
    run = facts.run
    tiles = [
        ("Bandwidth, critical path", _rate(run["bandwidth_critical_mib_s"]), "while in use"),
        ("Bandwidth, span", _rate(run["bandwidth_span_mib_s"]), "from first to last access"),
        ("Critical path", numbers.length(run["critical_s"] * 1e6), _of_span(facts)),
        ("Critical files", numbers.si(run["critical_files"]), f"of {numbers.si(run['files'])}"),
        ("Moved", numbers.amount(run["bytes"], "bytes"), "partial log" if run["partial"] else ""),
    ]  # fmt: skip
    return element(
        "dl",
        [element("div", element("dt", t), element("dd", v), element("dd", s)) for t, v, s in tiles],
        cls="tiles",
    )


def _of_span(facts: Facts) -> str:
    return f"of {numbers.length(facts.run['span_s'] * 1e6)} from first to last"


def _rate(mib_s: float | None) -> str:
    return numbers.rate(None if mib_s is None else mib_s * MIB, "bytes")


def _found(facts: Facts) -> Markup:
    return element("ul", [_finding(finding) for finding in findings(facts)], cls="summary")


def _finding(finding: Finding) -> Markup:
    codes = f" Drishti: {', '.join(finding.drishti)}." if finding.drishti else ""
    evidence = [[name, _written(value)] for name, value in finding.evidence.items()]
    return element(
        "li", element("p", element("strong", f"{finding.severity}: "), finding.text),
        element("p", finding.advice) if finding.advice else None,
        element(
            "details", element("summary", f"Evidence.{codes}"),
            table(finding.code, ["counter or measure", "value"], evidence, numeric=[1]),
        ) if evidence else None,
        cls=_CLASSES[finding.severity],
    )  # fmt: skip


def _written(value: float | int | str | None) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return numbers.NOTHING if value is None else str(value)


def _path(page: Page, facts: Facts) -> Markup | None:
    if not len(facts.worked.path.row):
        return None
    caption = (
        "When files were in use, in grey, and which of them the time goes to, in colour: the"
        " fewest files that cover all time in which any was in use. Others that were in use longest"
        " stand below."
    )
    rows = [
        [
            draw.plain(row["name"]), numbers.length(row["exclusive_s"] * 1e6),
            numbers.share(row["time_share"]), part(row["time_share"]),
            numbers.amount(row["moved"], "bytes"), _written(row["ranks"]),
            _written(row["stripe_count"]),
        ]
        for row in top_files(facts)
    ]  # fmt: skip
    head = ["file", "time", "share", "", "moved", "ranks", "stripes"]
    return element(
        "div", page.figure(path_figure(facts), caption, caption),
        table("Files that the critical path goes through", head, rows, numeric=(1, 2, 4, 5, 6)),
    )  # fmt: skip


def _osts(page: Page, facts: Facts) -> Markup | None:
    use = facts.use
    if not len(use.ost):
        return None
    order = np.argsort(-use.time_share, kind="stable")[:_OSTS]
    names = [f"OST {use.ost[i]}" for i in order]
    slow = ["" if np.isnan(s) else f", {s:.2g} × as slow" for s in use.slowness[order]]
    told = [
        f"{numbers.share(float(share))}{more}"
        for share, more in zip(use.time_share[order], slow, strict=True)
    ]
    figure = draw.bars(names, [float(100 * s) for s in use.time_share[order]], told)
    caption = (
        "The share of the critical time that each OST was the cause of, in percent, and how long it"
        " took for a byte beside the median of the others."
    )
    return page.figure(figure.update_layout(margin_r=150), caption, caption)


def _factors(facts: Facts) -> Markup:
    peers = facts.peers
    head = ["", "this run"] + (["median of its program", "has more than"] if peers else [])
    rows = []
    for name, title in _FACTORS.items():
        value = facts.run[name]
        row = [title, _written(None if value is None else float(value))]
        if peers is not None:
            known = values_of(peers[name])
            known = known[np.isfinite(known)]
            place = None if value is None else standing(peers, name, float(value))
            row += [_written(float(np.median(known))) if len(known) else numbers.NOTHING]
            row += [numbers.share(place)]
        rows.append(row)
    caption = "Factors, weighted with the time of the critical path"
    return table(caption, head, rows, numeric=range(1, len(head)))
