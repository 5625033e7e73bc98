"""`pfscope mine sql "SELECT …"`: a question in SQL to a lake, read-only and bounded."""

import argparse
import sys
from pathlib import Path

from pfscope.cli.answer import harmless
from pfscope.cli.lake import add_lake
from pfscope.cli.output import add_format, print_rows
from pfscope.errors import UsageError

EXAMPLES = """examples:
  pfscope mine sql "SELECT count(*) FROM darshan_job WHERE bytes_written < 1e9" --lake LAKE
  pfscope mine sql "SELECT executable, sum(bytes_read) AS bytes FROM darshan_job \\
      GROUP BY ALL ORDER BY bytes DESC LIMIT 10" --lake LAKE
  pfscope mine sql "DESCRIBE darshan_file" --lake LAKE
  pfscope mine sql "SELECT * FROM slurm" --lake LAKE --format parquet --output slurm.parquet

The tables are those of docs/reference/lake.md; slurm has the last record of each job, slurm_all
every record. ost_count(osts), ost_union(a, b) and ost_overlap(a, b) work on sets of OSTs.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EXAMPLES
    parser.add_argument("question", metavar="SELECT", help="one SELECT in DuckDB's SQL")
    add_lake(parser)
    add_format(parser, ("table", "csv", "json", "parquet"))
    parser.add_argument("--output", type=Path, metavar="FILE", help="write Parquet here")
    parser.add_argument(
        "--timeout", type=float, default=300, metavar="S", help="give up then (default: 300)"
    )
    parser.add_argument(
        "--memory-mb", type=int, default=4096, metavar="MB", help="at most (default: 4096)"
    )
    parser.add_argument(
        "--max-rows", type=int, default=1_000_000, metavar="N", help="print no more rows than these"
    )


def run(args: argparse.Namespace) -> int:
    """Ask, and print the answer."""
    from pfscope.mine.outputs import text_or_number
    from pfscope.mine.sql import Bounds, asked

    if min(args.timeout, args.memory_mb, args.max_rows) <= 0:
        raise UsageError("--timeout, --memory-mb and --max-rows must be positive")
    if (args.output is None) == (args.format == "parquet"):
        raise UsageError("--output FILE goes with --format parquet, and the other way round")
    with asked(
        args.lake, args.question, Bounds(args.timeout, args.memory_mb, args.max_rows)
    ) as answer:
        if args.output is not None:
            answer.to_parquet(args.output)
        else:
            batches = (
                [text_or_number(column) for column in batch.columns]
                for batch in answer.to_batches()
            )
            if sys.stdout.isatty():
                batches = ([[harmless(v) for v in column] for column in b] for b in batches)
            print_rows(answer.arrow_schema().names, batches, args.format)
        if answer.cut:
            print(f"only the first {args.max_rows} rows: see --max-rows", file=sys.stderr)
    return 0
