"""`pfscope top`: who loads the file systems, live in the terminal, as it was, or as rows."""

import argparse
import os
import sys
from typing import TYPE_CHECKING, Final

from pfscope.cli.filters import add_filters, filters
from pfscope.cli.output import add_format
from pfscope.cli.source import USUAL_SERVER, add_data, connection
from pfscope.config import add_config
from pfscope.errors import InputError, PfscopeError, UsageError
from pfscope.query.key_names import KEYS
from pfscope.times import duration_us, time_us
from pfscope.top.view import ROWS, View

if TYPE_CHECKING:
    from pfscope.top.source import Source

EXAMPLES: Final = """examples:
  pfscope top
  pfscope top --server https://pfscope.example.org:8470 --by job --sort metadata
  pfscope top --data DIR --at 2022-10-27T08:30
  pfscope top --batch -n 1 --format csv
  pfscope top --batch --by user,job --user 'mary*' --format json

Keys: u user, j job, n node, t target, Enter looks into a row, Esc goes back, / filters, < and >
sort, Space pauses, the arrows go back in time, ? tells all of them, q quits.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EXAMPLES
    add_data(parser, usual=USUAL_SERVER)
    add_config(parser)
    parser.add_argument("--at", metavar="TIME", help="as it was then: ISO 8601, or before the "
                        "newest observation (-2h)")  # fmt: skip
    parser.add_argument("--by", default="user", metavar="KEY[,KEY…]",
                        help=f"of {', '.join(k for k in KEYS if k != 'operation')} "
                        "(default: user)")  # fmt: skip
    parser.add_argument("--sort", default="load", metavar="COLUMN",
                        help="load, a metric or an operation (default: load)")  # fmt: skip
    parser.add_argument("--columns", metavar="COLUMN,…", help="show these, in this order")
    parser.add_argument("--over", metavar="TIME",
                        help="means of so long a time, 10m at most")  # fmt: skip
    parser.add_argument("--interval", default="1", metavar="TIME",
                        help="draw no more often than this (default: 1s)")  # fmt: skip
    parser.add_argument("--batch", action="store_true", help="print rows and take no keys")
    parser.add_argument("-n", type=int, metavar="N", dest="count",
                        help="with --batch: end after so many observations")  # fmt: skip
    parser.add_argument("--limit", type=int, metavar="N", default=ROWS,
                        help=f"so many rows at most (default: {ROWS})")  # fmt: skip
    add_format(parser)
    add_filters(parser.add_argument_group("whom it is about", "globs, ranges, or either with !"))


def run(args: argparse.Namespace) -> int:
    """Open the window, or print rows."""
    view = _view(args)
    columns = tuple(args.columns.split(",")) if args.columns else None
    interval_s = duration_us(args.interval) / 1e6
    if args.at is not None:
        time_us(args.at, now_us=0)  # what makes no sense is told before anything is drawn
    if args.batch:
        from pfscope.cli.top_batch import Batch, print_batch

        batch = Batch(view, args.at, columns, args.count)
        try:
            print_batch(_source(args), batch, args.format, sys.stdout)
        except InputError as error:
            raise _explained(args, error) from None
        return 0
    _check_terminal(args)
    from pfscope.top.app import Top
    from pfscope.top.state import state_file
    from pfscope.top.window import Wanted

    window = Top(_source(args), Wanted(view, args.at, interval_s, columns), remembers=state_file())
    window.run()
    if window.failure:
        raise _explained(args, window.failure)
    return window.return_code or 0


def _explained(args: argparse.Namespace, error: PfscopeError) -> PfscopeError:
    """Say what to do where the usual server does not answer."""
    if args.data or args.server != USUAL_SERVER or "does not answer:" not in str(error):
        return error
    return InputError(f"{error}; start one with `pfscope serve --data DIR`, or name --server URL "
                      "or --data DIR")  # fmt: skip


def _view(args: argparse.Namespace) -> View:
    by = tuple(args.by.split(","))
    where = tuple((key, tuple(patterns)) for key, patterns in filters(args).items())
    if args.limit < 1 or (args.count is not None and args.count < 1):
        raise UsageError("-n and --limit must be 1 at least")
    return View(by, where, sort=args.sort, over=args.over, limit=args.limit)


def _source(args: argparse.Namespace) -> "Source":
    from pfscope.top.source import RecordedSource, ServerSource

    if args.data:
        return RecordedSource(args.data, args.config)
    if args.config:
        raise UsageError("--config goes with --data: a server has its own configuration")
    args.server = args.server or USUAL_SERVER
    return ServerSource(connection(args))


def _check_terminal(args: argparse.Namespace) -> None:
    """Refuse what no window can be drawn on."""
    if args.count is not None:
        raise UsageError("-n goes with --batch")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("top needs a terminal: use --batch to print rows, as in "
                         "pfscope top --batch -n 1")  # fmt: skip
    if os.environ.get("TERM", "dumb") in ("dumb", "", "unknown"):
        raise UsageError("this terminal cannot be drawn on (TERM says so): use --batch")
