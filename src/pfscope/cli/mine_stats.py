"""`pfscope mine stats`: one page on how applications do I/O, from a lake of logs."""

import argparse
import sys
from pathlib import Path

from pfscope.cli.lake import add_lake
from pfscope.cli.progress import progress

EXAMPLES = """examples:
  pfscope mine stats --lake LAKE --out stats.html
  pfscope mine stats --lake LAKE --out january.html --from 2018-01-01 --to 2018-01-31
  pfscope mine stats --lake LAKE --out stats.html --engine spark://host:7077

The page needs no network: customised stripes, who reads and writes most, sequential accesses,
share of reads, sharing of files, POSIX and MPI-IO, coverage, and slow runs to choose among.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EXAMPLES
    add_lake(parser)
    add = parser.add_argument
    add("--out", type=Path, required=True, metavar="FILE", help="the page to write")
    add("--from", dest="start", metavar="DAY", help="the first day, such as 2018-01-01")
    add("--to", dest="end", metavar="DAY", help="the last day")
    add("--engine", default="duckdb", metavar="ENGINE",
        help="duckdb, or where Spark runs: spark://HOST:7077 (default: duckdb)")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Write the page and say where it is."""
    from pfscope import mine
    from pfscope.report.gallery import write_file
    from pfscope.report.lake_page import SECTIONS, lake_page

    with (
        mine.open(args.lake, args.engine, start=args.start, end=args.end) as miner,
        progress("sections", len(SECTIONS)) as told,
    ):
        page = lake_page(miner, lambda _: told(1))
    write_file(args.out, page)
    print(f"{args.out} is written, {len(page.encode()) / 1e6:.1f} MB", file=sys.stderr)
    return 0
