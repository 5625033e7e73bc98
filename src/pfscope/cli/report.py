"""`pfscope report figures|day|week`: figures and pages from data that is here or at a server."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pfscope.cli.source import add_data, source_of
from pfscope.config import add_config

if TYPE_CHECKING:
    from pfscope.query.data import Data
    from pfscope.report.asking import Asking
    from pfscope.report.drawing import Drawing

EXAMPLES = """examples:
  pfscope report day --data /var/lib/pfscope --out yesterday.html
  pfscope report week --server https://pfscope.example.org --out week.html --date 2022-10-30
  pfscope report figures --data DATA --out FIGURES --from 2022-10-27 --to 2022-10-27
  pfscope report figures --data DATA --out FIGURES --job 11317854 --format svg

A day's or a week's report is one page that needs no network; without --date it is of the last day
that is over, or of the week that ends with it. All times are UTC.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EXAMPLES
    kinds = parser.add_subparsers(dest="report", metavar="figures|day|week", required=True)
    _add_figures(kinds.add_parser("figures", help="total rates, counters, densities, entries"))
    for name in ("day", "week"):
        _add_page(kinds.add_parser(name, help=f"one page on a {name}"), name)


def _add_figures(parser: argparse.ArgumentParser) -> None:
    parser.description = "Draw figures of a period, and an index of them."
    _add_common(parser)
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where to write")
    parser.add_argument("--from", dest="start", metavar="TIME", help="2022-10-27, …T08:30 or -2h")
    parser.add_argument("--to", dest="end", metavar="TIME", help="(default: the newest day)")
    parser.add_argument("--step", metavar="TIME", help="how long steps are, such as 10m")
    parser.add_argument(
        "--job", action="append", default=[], metavar="JOB",
        help="draw this job's writes; may be repeated (default: the three that wrote most)",
    )  # fmt: skip
    parser.add_argument("--format", choices=("html", "png", "svg"), default="html")


def _add_page(parser: argparse.ArgumentParser, period: str) -> None:
    parser.description = f"Write one page on a {period}: what, who, where, how unusual, how sound."
    _add_common(parser)
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="the page to write")
    parser.add_argument("--date", metavar="DAY", help=f"the day, or the last of the {period}")


def _add_common(parser: argparse.ArgumentParser) -> None:
    add_data(parser)
    parser.add_argument(
        "--filesystem", action="append", metavar="GLOB", help="of these file systems only"
    )
    for name, what in (("system", "system users"), ("login", "login nodes")):
        parser.add_argument(f"--{name}", choices=("yes", "no", "only"), help=f"{what} in or out")
    add_config(parser)


def run(args: argparse.Namespace) -> int:
    """Write the report and say where it is."""
    from pfscope.query.data import Data

    with Data(source_of(args)) as data:
        words = {
            name: getattr(args, name)
            for name in ("filesystem", "system", "login")
            if getattr(args, name)
        }
        write: Callable[[argparse.Namespace, Data, dict[str, Any]], str]
        write = _write_figures if args.report == "figures" else _write_page
        print(write(args, data, words), file=sys.stderr)
    return 0


def _write_page(args: argparse.Namespace, data: "Data", words: dict[str, Any]) -> str:
    from pfscope.report.day import report
    from pfscope.report.gallery import write_file

    page = report(data, args.report, args.date, words)
    write_file(args.out, page)
    return f"{args.out} is written, {len(page.encode()) / 1e6:.1f} MB"


def _write_figures(args: argparse.Namespace, data: "Data", words: dict[str, Any]) -> str:
    from pfscope.report.asking import Asking
    from pfscope.report.browser import find_browser
    from pfscope.report.figures import figures

    browser = find_browser() if args.format != "html" else None
    asking = Asking(data, args.start, args.end, words, args.step)
    drawings = figures(asking, args.job)
    made = _write_images(args, asking, list(drawings), browser) if browser else None
    if made is None:
        from pfscope.report.gallery import write_gallery

        made = len(write_gallery(args.out, drawings, asking))
    return f"{made} figures are in {args.out}: open {args.out / 'index.html'}"


def _write_images(
    args: argparse.Namespace, asking: "Asking", drawings: "list[Drawing]", browser: str
) -> int:
    from pfscope.report.browser import images
    from pfscope.report.gallery import INDEX, index_page, period_of, write_file

    drawn = images([drawing.figure for drawing in drawings], args.format, browser)
    for drawing, image in zip(drawings, drawn, strict=True):
        write_file(args.out / f"{drawing.name}.{args.format}", image)
    index = index_page(drawings, period_of(asking), lambda d: f"{d.name}.{args.format}")
    write_file(args.out / INDEX, index)
    return len(drawings)
