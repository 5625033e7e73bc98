"""`pfscope logs ls`: what is in a lake by day and kind, and what is not, and why."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pfscope.cli.logs_import import period_of
from pfscope.cli.output import add_format, print_rows
from pfscope.untrusted import printable

EXAMPLES = """examples:
  pfscope logs ls --lake LAKE
  pfscope logs ls --lake LAKE --why
  pfscope logs ls --lake LAKE --files --from 2026-11-01 --to 2026-11-02 --format csv
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EXAMPLES
    parser.add_argument("--lake", type=Path, required=True, metavar="DIR", help="the lake")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--why", action="store_true", help="why files are partial or in quarantine, by reason"
    )
    what.add_argument("--files", action="store_true", help="what became of each file")
    parser.add_argument("--from", dest="begin", metavar="TIME", help="no earlier days")
    parser.add_argument("--to", dest="end", metavar="TIME", help="no later days")
    add_format(parser)


def run(args: argparse.Namespace) -> int:
    """Print what there is."""
    from pfscope.mine import listing
    from pfscope.mine.lake import Lake

    lake = Lake(args.lake)
    period = period_of(args)
    if args.files:
        files = listing.list_files(lake, period)
        print_rows(files.column_names, [[c.to_pylist() for c in files.columns]], args.format)
        return 0
    reasons = listing.list_reasons(lake)
    if args.why:
        print_rows(listing.Reason._fields, _batches(reasons), args.format)
        return 0
    print_rows(listing.Day._fields, _batches(listing.list_days(lake, period)), args.format)
    if args.format == "table":
        for reason in reasons:
            told = f"{reason.files} {reason.state}: {reason.reason} ({reason.path}"
            more = ", …)" if reason.files > 1 else ")"
            print(printable(told + more), file=sys.stderr)
    return 0


def _batches(rows: Sequence[tuple[object, ...]]) -> list[list[tuple[object, ...]]]:
    return [list(zip(*rows, strict=True))] if rows else []
