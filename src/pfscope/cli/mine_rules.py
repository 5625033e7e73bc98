"""`--operation`, `--intervals` and `--small`: how factors are worked out."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pfscope.mine.factors_rules import Rules


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--operation", choices=("read", "write", "metadata", "all"), default="write",
        help="of which operation (default: write)",
    )  # fmt: skip
    parser.add_argument(
        "--intervals", choices=("span", "flush", "exact"), default="span",
        help="when a file is in use: from the first access to the last (default), to the end of"
        " flushes, or as DXT traced it",
    )  # fmt: skip
    parser.add_argument(
        "--small", metavar="SIZE", default="100KiB", help="what is small (default: 100KiB)"
    )
    parser.add_argument(
        "--forgive-first", action="store_true",
        help="do not count a process's first access to a file as not consecutive",
    )  # fmt: skip


def rules_of(args: argparse.Namespace) -> "Rules":
    """Return what was asked for."""
    from pfscope.mine.factors_rules import rules
    from pfscope.mine.units import quantity

    return rules(
        args.operation, args.intervals, int(quantity(args.small)),
        first_counts=not args.forgive_first,
    )  # fmt: skip
