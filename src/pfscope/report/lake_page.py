"""One page on how applications do I/O: the statistics of a lake, each figure with its table."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import pyarrow as pa

from pfscope.mine import statistics
from pfscope.mine.miner import Miner
from pfscope.mine.statistics import STRIPE_KINDS
from pfscope.report import draw, lake_figures, numbers, parallel
from pfscope.report.markup import Child, Markup, element, table
from pfscope.report.page import Page
from pfscope.report.section_low import low

_WHAT: Final = {
    "bytes_read": ("read on Lustre", "LMT", "bytes"),
    "bytes_written": ("written on Lustre", "LMT", "bytes"),
    "core_seconds": ("core time of completed jobs", "Slurm", "core seconds"),
    "jobs": ("completed jobs", "Slurm", ""),
}


_TOP_HEAD: Final = ("program", "runs", "bytes", "share")


def lake_page(miner: Miner, done: Callable[[str], None] = lambda _: None) -> str:
    """Return the page; `done` is told of each section."""
    known = statistics.totals(miner)
    page = Page("How applications do I/O", _period(known), scripts=(parallel.SCRIPT,),
                styles=(parallel.STYLE,))  # fmt: skip
    if not known["runs"]:
        return page.html(element("p", "The lake has no Darshan logs: pfscope logs import darshan."))
    parts = []
    for name, title, section in SECTIONS:
        parts.append(element("section", element("h2", title, id=name), section(page, miner)))
        done(title)
    navigation = [(name, title) for name, title, _ in SECTIONS]
    return page.html([_tiles(known), parts], navigation)


def _period(known: dict[str, Any]) -> str:
    if not known["runs"]:
        return "no runs"
    return f"{known['first']:%Y-%m-%d} to {known['last']:%Y-%m-%d}, from the logs of Darshan"


def _tiles(known: dict[str, Any]) -> Markup:
    tiles = [
        ("Runs", numbers.si(known["runs"]), f"{numbers.si(known['applications'])} programs"),
        ("Files", numbers.si(known["files"]), ""),
        ("Read", numbers.amount(known["bytes_read"], "bytes"), ""),
        ("Written", numbers.amount(known["bytes_written"], "bytes"), ""),
        ("Incomplete logs", numbers.si(known["partial"]), "their sums are too small"),
    ]
    return element("dl", [
        element("div", element("dt", a), element("dd", b), element("dd", c)) for a, b, c in tiles
    ], cls="tiles")  # fmt: skip


def _folded(shown: Markup) -> Markup:
    return element("details", element("summary", "The same in numbers"), shown)


def _stripes(page: Page, miner: Miner) -> Child:
    found = statistics.stripes(miner)
    runs, odd = found["lustre_runs"], found["customised"]
    caption = (
        f"{numbers.how_many(odd, 'run')} of {numbers.count(runs)} on Lustre "
        f"({numbers.share(odd / runs if runs else None)}) have a file that is not striped as by "
        "default: one stripe of 1 MiB on any OST."
    )
    names = ["any of them", *STRIPE_KINDS]
    counts = [found["customised"], *(found[name] for name in STRIPE_KINDS)]
    shares = [numbers.share(n / runs if runs else None) for n in counts]
    rows = [
        (name, numbers.si(n), share) for name, n, share in zip(names, counts, shares, strict=True)
    ]
    figure = draw.bars(names, counts, [f"{numbers.si(n)}, {s}" for _, n, s in
                                       zip(names, counts, shares, strict=True)])  # fmt: skip
    head = ("stripe setting", "runs", "of runs on Lustre")
    return [page.figure(figure, caption, caption),
            _folded(table("Customised stripes", head, rows, numeric=(1, 2)))]  # fmt: skip


def _top(column: str, word: str) -> Callable[[Page, Miner], Child]:
    def section(page: Page, miner: Miner) -> Child:
        rows = statistics.top(miner, column).to_pylist()
        names = [row["executable"] for row in rows]
        share = numbers.share(sum(row["share"] for row in rows))
        caption = (
            f"The {numbers.how_many(len(rows), 'program')} that {word} most have {share} of it."
        )
        told = [
            (draw.plain(row["executable"]), numbers.si(row["runs"]),
             numbers.amount(row["bytes"], "bytes"), numbers.share(row["share"]))
            for row in rows
        ]  # fmt: skip
        texts = [f"{amount}, {part}" for _, _, amount, part in told]
        figure = draw.bars([draw.label(name) for name in names], [r["bytes"] for r in rows], texts)
        shown = table(f"Programs that {word} most", _TOP_HEAD, told, numeric=(1, 2, 3))
        return [page.figure(figure, caption, caption), _folded(shown)]

    return section


def _sequential(page: Page, miner: Miner) -> Child:
    found = statistics.sequential(miner)
    counts = {name: found[name].to_pylist() for name in ("consecutive", "sequential")}
    whole = sum(counts["consecutive"])
    half = sum(counts["consecutive"][:50])
    caption = (
        f"{numbers.share(half / whole if whole else None)} of runs have less than half of their "
        "accesses consecutive (each begins where the one before it ended). Sequential ones may "
        "leave gaps."
    )
    figure = lake_figures.cumulative(found["percent"].to_pylist(), counts)
    return [page.figure(figure, caption, caption), _percents(found, "Sequential accesses")]


def _read_ratio(page: Page, miner: Miner) -> Child:
    found = statistics.read_ratio(miner)
    runs = found["bytes_read"].to_pylist()
    whole = sum(runs) or 1
    caption = (
        f"{numbers.share(runs[0] / whole)} of runs read less than 1 % of the bytes that they move, "
        f"{numbers.share(runs[100] / whole)} read all of them."
    )
    figure = lake_figures.histogram(list(range(101)), runs, "percent of bytes that are read")
    return [page.figure(figure, caption, caption), _percents(found, "Share of reads")]


def _percents(found: pa.Table, title: str) -> Markup:
    """Return a table of percents that runs have, those without runs left out."""
    names = found.column_names
    rows = [row for row in zip(*found.to_pydict().values(), strict=True) if any(row[1:])]
    shown = [[f"{row[0]} %", *(numbers.si(n) for n in row[1:])] for row in rows]
    head = ["percent", *(f"runs, {name.replace('_', ' ')}" for name in names[1:])]
    return _folded(table(title, head, shown, numeric=range(1, len(names))))


def _sharing(page: Page, miner: Miner) -> Child:
    patterns, ratio = statistics.sharing(miner).to_pylist(), statistics.sharing_ratio(miner)
    whole = sum(row["runs"] for row in patterns) or 1
    told = [f"{row['pattern']} {numbers.share(row['runs'] / whole)}" for row in patterns]
    caption = (
        f"Of runs with several processes: {numbers.listed(told)}. R is processes for each file; "
        "streams, libraries and /proc are not counted."
    )
    names = [_power(name) for name in ratio["ratio"].to_pylist()]
    figure = lake_figures.histogram(
        names, ratio["runs"].to_pylist(), "R, from this value to the next"
    )
    shares = [
        (r["pattern"], numbers.si(r["runs"]), numbers.share(r["runs"] / whole)) for r in patterns
    ]
    bins = [(name, numbers.si(n)) for name, n in zip(names, ratio["runs"].to_pylist(), strict=True)]
    return [
        page.figure(figure, caption, caption),
        table("Who shares files", ("pattern", "runs", "share"), shares, numeric=(1, 2)),
        _folded(table("Processes for each file", ("R from", "runs"), bins, numeric=(1,))),
    ]


def _power(name: str) -> str:
    power = int(name.partition("^")[2] or 0)
    if name == "less":
        return name
    return str(2**power) if power >= 0 else f"1/{2**-power}"


def _middleware(page: Page, miner: Miner) -> Child:
    found = statistics.middleware(miner)
    layers = found.column_names[1:]
    sums = [max(sum(row[name] for name in layers), 1) for row in found.to_pylist()]
    shares = {
        name: [100 * n / whole for n, whole in zip(found[name].to_pylist(), sums, strict=True)]
        for name in layers
    }
    sizes = found["processes"].to_pylist()
    told = [
        f"{numbers.share(p / 100)} with {size}"
        for size, p in zip(sizes, shares["POSIX"], strict=True)
    ]
    caption = (
        f"POSIX alone is used by: {'; '.join(told)}. The others use MPI-IO, alone or together."
    )
    rows = [[size, *(numbers.si(row[name]) for name in layers)]
            for size, row in zip(sizes, found.to_pylist(), strict=True)]  # fmt: skip
    head = ("processes", *layers)
    return [page.figure(lake_figures.stacked(sizes, shares), caption, caption),
            _folded(table("Runs by what they use", head, rows, numeric=(1, 2, 3)))]  # fmt: skip


def _coverage(page: Page, miner: Miner) -> Child:
    rows = [row for row in statistics.coverage(miner).to_pylist() if row["share"] is not None]
    if not rows:
        return element("p", "Neither LMT nor Slurm is in the lake: pfscope logs import lmt, slurm.")
    names = [_WHAT[row["what"]][0] for row in rows]
    texts = [numbers.share(row["share"]) for row in rows]
    caption = "Darshan saw " + numbers.listed([
        f"{text} of {name} that {_WHAT[row['what']][1]} saw"
        for row, name, text in zip(rows, names, texts, strict=True)
    ]) + "."  # fmt: skip
    shown: list[Sequence[str]] = [
        (name, numbers.amount(row["logs"], _WHAT[row["what"]][2]),
         numbers.amount(row["all"], _WHAT[row["what"]][2]), _WHAT[row["what"]][1], text)
        for row, name, text in zip(rows, names, texts, strict=True)
    ]  # fmt: skip
    head = ("what", "in logs", "of", "as seen by", "share")
    figure = draw.bars(names, [100 * row["share"] for row in rows], texts)
    return [page.figure(figure, caption, caption),
            _folded(table("Coverage", head, shown, numeric=(1, 2, 4)))]  # fmt: skip


def _low(operation: str) -> Callable[[Page, Miner], Child]:
    return lambda _, miner: low(miner, operation)


SECTIONS: Final[tuple[tuple[str, str, Callable[[Page, Miner], Child]], ...]] = (
    ("stripes", "Customised stripes", _stripes),
    ("top-read", "Who reads most", _top("bytes_read", "read")),
    ("top-written", "Who writes most", _top("bytes_written", "wrote")),
    ("sequential", "Sequential accesses", _sequential),
    ("read-ratio", "Share of reads", _read_ratio),
    ("sharing", "Sharing of files", _sharing),
    ("middleware", "POSIX and MPI-IO", _middleware),
    ("coverage", "What the logs cover", _coverage),
    ("slow-reads", "Slow reads", _low("read")),
    ("slow-writes", "Slow writes", _low("write")),
)
