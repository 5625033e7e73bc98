"""`pfscope export`: a store's rows as plain Parquet or CSV by day, for every other tool."""

import argparse
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pfscope.cli.source import add_data, connection
from pfscope.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

EXAMPLES = """examples:
  pfscope export --data /var/lib/pfscope OUT --from 2022-10-01 --to 2022-10-31
  pfscope export --data DATA OUT --wide --table usage_mdt --table usage_ost
  pfscope export --data DATA OUT --from 2022-10-27T08:00 --to 2022-10-27T09:00 --format csv
  pfscope export --server http://127.0.0.1:8470 OUT --from -1d

Times are UTC unless they say otherwise. A day as --to is meant whole; a time as --to ends it.
OUT must be empty or not there yet; it gets TABLE/day=YYYY-MM-DD/part-0.parquet.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EXAMPLES
    add_data(parser)
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


class Files(Protocol):
    """The files of an export, wherever their rows come from."""

    @property
    def paths(self) -> list[str]:
        """Where each file is to lie."""

    def rows(self, path: str) -> AbstractContextManager["pa.RecordBatchReader"]:
        """Return what is to stand in a file."""


def run(args: argparse.Namespace) -> int:
    """Write the files and say how much there was."""
    with _files(args) as files:
        require_empty(args.out)
        rows = _write(files, args.out, args.format)
    print(f"{sum(rows)} rows in {len(rows)} files are in {args.out}")
    return 0


@contextmanager
def _files(args: argparse.Namespace) -> Iterator[Files]:
    tables = tuple(args.table or ())
    if args.server:
        from pfscope.cli.export_server import ServerFiles

        yield ServerFiles(
            connection(args), args.begin, args.end, tables, args.format, wide=args.wide
        )
        return
    from pfscope.store.embedded import open_store
    from pfscope.store.export import StoreFiles, asked

    with open_store(args.data, create=False, read_only=True) as store:
        wanted = asked(store, args.begin, args.end, tables, args.format, args.wide)
        yield StoreFiles(store, wanted)


def require_empty(out: Path) -> None:
    """Refuse a directory in which something is."""
    try:
        if out.exists() and any(out.iterdir()):
            raise InputError(f"{out} is not empty: name a directory that is empty or not there yet")
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {out}: {error.strerror}") from error


def _write(files: Files, out: Path, style: str) -> list[int]:
    """Make every file; return the number of rows of each."""
    from rich.console import Console
    from rich.progress import track

    from pfscope.store.export import write

    console = Console(stderr=True)
    counts = []
    for path in track(files.paths, "exporting", console=console, disable=not console.is_terminal):
        with files.rows(path) as rows:
            counts.append(write(rows, out / path, style))
    return counts
