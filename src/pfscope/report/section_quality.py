"""Data quality: how sound ids were, what nobody is told for, and when targets were not observed."""

from collections import defaultdict
from typing import Any, Final

import numpy as np
import pyarrow as pa

from pfscope.report import draw, numbers
from pfscope.report.digest import Digest
from pfscope.report.figure_entries import in_order, parts
from pfscope.report.lines import Line, Steps, lines_of
from pfscope.report.markup import Child, Markup, element, table

SILENT: Final = 2.6
"""A target was silent when nothing was read for so many times the usual interval."""
_GAPS_SHOWN: Final = 12
_READABLE: Final = ("sound", "missing-job", "qualified-host")
_UNSOUND: Final = 0.01
_UNATTRIBUTED: Final = 0.05
Gap = tuple[int, int]


def quality(digest: Digest) -> Markup:
    """Return the section."""
    result = digest.asking.of_targets("quality")
    head = element("h2", "Data quality", id="quality")
    if result is None or not len(result):
        return element(
            "section", head, element("p", "There is nothing on the quality of this data.")
        )
    return element(
        "section", head, element("p", "How far the rest of this page can be trusted."),
        _classes(digest, result.table), _gaps(digest, result.table), _unattributed(digest),
    )  # fmt: skip


def _classes(digest: Digest, found: pa.Table) -> list[Child]:
    by_class: dict[str, dict[bool, float]] = defaultdict(dict)
    for name, system, share in parts(found):
        by_class[name][system] = share
    order = in_order(list(by_class))
    rows = [
        [
            name, numbers.share(by_class[name].get(False, 0.0)),
            numbers.share(by_class[name].get(True, 0.0)),
        ]
        for name in order
    ]  # fmt: skip
    unsound = sum(sum(by_class[n].values()) for n in order if n not in _READABLE)
    if unsound >= _UNSOUND:
        digest.find(
            f"{numbers.share(unsound)} of all entries have ids that cannot be read.", "warn"
        )
    return [
        element("h3", "Entries by the form of their ids"),
        _classes_over_time(digest, found, order),
        table("Entries by class, as shares of all", ("class", "users", "system users"), rows,
              numeric=(1, 2)),
    ]  # fmt: skip


def _classes_over_time(digest: Digest, found: pa.Table, order: list[str]) -> Markup:
    stepped = digest.asking.of_targets("quality", step=_step(digest))
    of = stepped.table if stepped is not None else found
    summed = of.group_by(["time", "class"]).aggregate([("entries", "sum")])
    steps = Steps.of(digest.asking.start_us, digest.asking.end_us, summed)
    lines = {str(line.name[0]): line for line in lines_of(summed, ["class"], "entries_sum")}
    shown = tuple(
        Line((name,), lines[name].ends, lines[name].rates) for name in order if name in lines
    )
    figure = draw.time_figure([draw.Panel("entries of all targets", "", shown, log=True)], steps)
    caption = (
        "Entries of all targets by the class of their ids, on a logarithmic axis: the highest "
        f"number within {numbers.length(steps.length_us())} of each target, added up."
    )
    return digest.page.figure(figure, caption, caption)


def _step(digest: Digest) -> str:
    return "10m" if digest.word == "day" else "1h"


def silences(found: pa.Table, start_us: int, end_us: int) -> dict[Gap, list[str]]:
    """Return when nothing was read, with the targets of which this is so."""
    gaps: dict[Gap, list[str]] = defaultdict(list)
    reads = [
        (line.name[0], np.unique(line.ends)) for line in lines_of(found, ["target"], "entries")
    ]
    between = [np.diff(times) for _, times in reads if len(times) > 1]
    usual = float(np.median(np.concatenate(between))) if between else float(end_us - start_us)
    for target, times in reads:
        whole = np.concatenate([[start_us], times, [end_us]])
        for place in np.flatnonzero(np.diff(whole) > SILENT * usual):
            gaps[int(whole[place]), int(whole[place + 1])].append(str(target))
    return dict(sorted(gaps.items()))


def _gaps(digest: Digest, found: pa.Table) -> list[Child]:
    gaps = silences(found, digest.asking.start_us, digest.asking.end_us)
    title = element("h3", "Silence")
    if not gaps:
        return [title, element("p", "Every target was observed all the time.")]
    longest = max(gaps, key=lambda gap: gap[1] - gap[0])
    digest.find(
        f"Nothing was read of {_targets(gaps[longest])} for "
        f"{numbers.length(longest[1] - longest[0])} ({numbers.span(*longest)}); silences in all: "
        f"{len(gaps)}.", "warn",
    )  # fmt: skip
    chosen = sorted(gaps, key=lambda gap: gap[0] - gap[1])[:_GAPS_SHOWN]
    rows = [[numbers.span(*g), numbers.length(g[1] - g[0]), _targets(gaps[g])] for g in chosen]
    head = ("when", "how long", "targets")
    return [
        table("Silence", head, rows, numeric=(1,), heading=True),
        element(
            "p", "What was done meanwhile is spread evenly over the silence, if it was seen after."
        ),
    ]


def _targets(names: list[str]) -> str:
    if len(names) > 4:
        return f"{names[0]} and {len(names) - 1} other targets"
    return numbers.listed(names)


def _unattributed(digest: Digest) -> list[Child]:
    result = digest.asking.of_targets("unattributed", by=["target"], operation="iops")
    rows: list[dict[str, Any]] = result.to_pylist() if result is not None else []
    rows = [row for row in rows if row["share"] is not None]
    title = element("h3", "What nobody is told for")
    if not rows:
        said = "The targets' own counts were not collected, so this is not known."
        return [title, element("p", said)]
    whole = sum(row["total"] for row in rows)
    share = sum(row["unattributed"] for row in rows) / whole if whole else 0.0
    said = f"{numbers.share(max(share, 0.0))} of what targets counted themselves has no entry."
    if share >= _UNATTRIBUTED:
        digest.find(said, "warn")
    rows = sorted(rows, key=lambda row: -row["share"])[:6]
    cells = [
        [
            row["target"], numbers.amount(row["total"], None),
            numbers.amount(max(row["unattributed"], 0.0), None),
            numbers.share(max(row["share"], 0.0)),
        ]
        for row in rows
    ]  # fmt: skip
    head = ("target", "requests", "without an entry", "share")
    return [
        title,
        element("p", said),
        table("Largest unattributed shares", head, cells, numeric=(1, 2, 3)),
    ]
