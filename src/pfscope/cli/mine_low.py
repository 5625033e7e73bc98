"""`pfscope mine low`: the runs of low bandwidth of a lake, with what each of them did."""

import argparse
import sys
from pathlib import Path
from typing import Final

from pfscope.cli.mine_rules import add_rules, rules_of
from pfscope.cli.output import add_format, print_rows

EXAMPLES: Final = """examples:
  pfscope mine low --lake LAKE --operation write --below 1GB/s --min-procs 1000
  pfscope mine low --lake LAKE --operation read --below 100MB/s --min-bytes-per-proc 10MB
  pfscope mine low --lake LAKE --executable ior --format csv >ior.csv

The bandwidth is that over the critical path: of the time in which any file was in use.
docs/reference/mine-job.md tells what the columns mean.
"""
_SHORT: Final = (
    "job_id", "user", "executable", "nprocs", "bandwidth_critical_mib_s", "bandwidth_span_mib_s",
    "critical_s", "small_pct", "nonconsec_pct", "coll_pct", "ost_count", "proc_per_ost",
    "imbalance_pct", "metadata_pct", "partial",
)  # fmt: skip
"""What a table for people has room for."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EXAMPLES
    parser.add_argument("--lake", type=Path, metavar="DIR", required=True, help="the lake of logs")
    add_rules(parser)
    parser.add_argument(
        "--below", metavar="RATE", default="1GB/s", help="slower than this (default: 1GB/s)"
    )
    parser.add_argument("--above", metavar="RATE", default="0", help="not slower than this")
    parser.add_argument(
        "--min-procs", type=int, metavar="N", default=1, help="at least so many processes"
    )
    parser.add_argument(
        "--min-bytes", metavar="SIZE", default="1", help="at least so many bytes in all"
    )
    parser.add_argument(
        "--min-bytes-per-proc", metavar="SIZE", default="0", help="and for each process"
    )
    parser.add_argument("--executable", metavar="NAME", help="of this program only")
    parser.add_argument("--user", metavar="NAME", help="of this user only")
    parser.add_argument("--limit", type=int, metavar="N", help="the slowest N only")
    add_format(parser)


def run(args: argparse.Namespace) -> int:
    """Find and print them."""
    from pfscope.mine.factors_low import Search, low
    from pfscope.mine.sources import open_lake
    from pfscope.mine.units import quantity

    search = Search(
        below=quantity(args.below),
        above=quantity(args.above),
        min_procs=args.min_procs,
        min_bytes=quantity(args.min_bytes),
        min_bytes_per_proc=quantity(args.min_bytes_per_proc),
        executable=args.executable,
        user=args.user,
    )
    with open_lake(args.lake) as tables:
        found = low(tables, rules_of(args), search)
    shown = found if args.limit is None else found.slice(0, max(args.limit, 0))
    for_people = args.format == "table"
    columns = list(_SHORT) if for_people else shown.column_names
    values = [[_cell(v, short=for_people) for v in shown[name].to_pylist()] for name in columns]
    print_rows(columns, [values], args.format)
    count = found.num_rows
    print(f"{count} run{' is' if count == 1 else 's are'} as slow", file=sys.stderr)
    return 0


def _cell(value: object, *, short: bool) -> object:
    from datetime import datetime

    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return f"{value:.4g}" if short and isinstance(value, float) else value
