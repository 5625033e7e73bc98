"""`pfscope job JOBID`: one job in plain words: who, where, when, what it did, what to change."""

import argparse
import json
import sys
from typing import Any, Final

from pfscope.cli.job_page import job_text
from pfscope.cli.output import add_format, print_rows
from pfscope.cli.source import add_data, source_of
from pfscope.config import add_config

COLUMNS: Final = ("operation", "unit", "total", "rate_mean", "rate_max", "share")
EXAMPLES: Final = """examples:
  pfscope job 11302088 --data DIR
  pfscope job 11302088 --server http://127.0.0.1:8470 --from -7d
  pfscope job 120 --data DIR --format json      all tasks of an array
  pfscope job 11302088 --data DIR --incidents   look for incidents, too

Times are ISO 8601, in UTC unless they say otherwise, or before the newest observation (-2h);
without any it is the last day. A server knows its incidents; in recorded data they are looked for
with --incidents, which takes some seconds for each day.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EXAMPLES
    parser.add_argument("job", metavar="JOBID", help="the id of a job, or of an array")
    add_data(parser)
    add_config(parser)
    parser.add_argument("--from", dest="start", metavar="TIME", help="from when")
    parser.add_argument("--to", dest="end", metavar="TIME", help="until when")
    parser.add_argument(
        "--incidents", action="store_true", help="look for incidents in recorded data, too"
    )
    add_format(parser)


def run(args: argparse.Namespace) -> int:
    """Print what is known of the job."""
    from pfscope.query.data import Data
    from pfscope.watch.job import incidents_of, job_told

    with Data(source_of(args)) as data:
        told = job_told(data, args.job, args.start, args.end)
        looked = bool(args.server or args.incidents)
        told["incidents"] = incidents_of(data, told) if looked else None
    print_job(told, args.format)
    return 0


def print_job(told: dict[str, Any], style: str) -> None:
    """Print what is known of a job."""
    if style == "json":
        print(json.dumps(told))
    elif style == "csv":
        rows = told["operations"]
        print_rows(COLUMNS, [[[row[name] for row in rows] for name in COLUMNS]], style)
    else:
        sys.stdout.write(job_text(told))
