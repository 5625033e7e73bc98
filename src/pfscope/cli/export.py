"""`pfscope export`: a store's rows as plain Parquet or CSV by day, for every other tool."""

import argparse
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pfscope.cli.source import add_where
from pfscope.errors import InputError, UsageError

if TYPE_CHECKING:
    from pfscope.store.embedded import EmbeddedStore
    from pfscope.store.export import Export, Span

EXAMPLES = """examples:
  pfscope export --data /var/lib/pfscope OUT --from 2022-10-01 --to 2022-10-31
  pfscope export --data DATA OUT --wide --table usage_mdt --table usage_ost
  pfscope export --data DATA OUT --from 2022-10-27T08:00 --to 2022-10-27T09:00 --format csv

Times are UTC unless they say otherwise. A day as --to is meant whole; a time as --to ends it.
OUT must be empty or not there yet; it gets TABLE/day=YYYY-MM-DD/part-0.parquet.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EXAMPLES
    add_where(parser)
    parser.add_argument("out", metavar="OUT", type=Path, help="where to write: an empty directory")
    parser.add_argument("--from", dest="begin", metavar="TIME", help="the first day or instant")
    parser.add_argument("--to", dest="end", metavar="TIME", help="the last day, or the end")
    parser.add_argument("--format", choices=("parquet", "csv"), default="parquet")
    parser.add_argument(
        "--table", action="append", metavar="TABLE",
        help="a table to write; may be repeated (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--wide", action="store_true",
        help="put target, entry id, job, user, node, … and the operation beside each usage row",
    )  # fmt: skip


def data_directory(args: argparse.Namespace) -> Path:
    """Return the data directory, which an export reads by itself."""
    if args.server:
        raise UsageError(
            "export reads a data directory itself: use --data DIR when its server is stopped; "
            "meanwhile DIR/parquet has all past days, and `pfscope query` writes answers as Parquet"
        )
    directory: Path = args.data
    return directory


def run(args: argparse.Namespace) -> int:
    """Write the files and say how much there was."""
    from pfscope.store.embedded import open_store
    from pfscope.store.export import Export, whole_span
    from pfscope.store.schema import TIMED

    directory = data_directory(args)
    unknown = sorted(set(args.table or ()) - set(TIMED))
    if unknown:
        raise UsageError(f"no table {unknown[0]!r}; there are {', '.join(TIMED)}")
    require_empty(args.out)
    with open_store(directory, create=False, read_only=True) as store:
        export = Export(
            _span(args.begin, args.end, whole_span(store)), tuple(args.table or TIMED),
            style=args.format, wide=args.wide,
        )  # fmt: skip
        files, rows = _write(export, store, args.out)
    print(f"{rows} rows in {files} files are in {args.out}")
    return 0


def require_empty(out: Path) -> None:
    """Refuse a directory in which something is."""
    try:
        if out.exists() and any(out.iterdir()):
            raise InputError(f"{out} is not empty: name a directory that is empty or not there yet")
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {out}: {error.strerror}") from error


def moment_us(text: str, *, end: bool = False) -> int:
    """Read a day or a time as microseconds; a day as an end means the end of that day.

    >>> moment_us("1970-01-02"), moment_us("1970-01-02", end=True) == 2 * moment_us("1970-01-02")
    (86400000000, True)
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is no time: write 2022-10-27 or 2022-10-27T08:30") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if end and len(text) <= len("2022-10-27"):
        moment += timedelta(days=1)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def _span(begin: str | None, end: str | None, whole: "Span") -> "Span":
    first = moment_us(begin) if begin else whole.first_us
    last = moment_us(end, end=True) if end else whole.end_us
    if begin and end and last <= first:
        raise UsageError(f"--to {end} is not after --from {begin}")
    return whole.__class__(first, last)


def _write(export: "Export", store: "EmbeddedStore", out: Path) -> tuple[int, int]:
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    written = track(
        export.write(store, out), "exporting", total=len(export.pieces(store)),
        console=console, disable=not console.is_terminal,
    )  # fmt: skip
    counts = [rows for _piece, rows in written]
    return len(counts), sum(counts)
