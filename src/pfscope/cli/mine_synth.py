"""`pfscope mine synth`: a month of logs whose truth is known, as a lake."""

import argparse
import sys
from pathlib import Path

from pfscope.cli.progress import progress

EXAMPLES = """examples:
  pfscope mine synth --jobs 1000 --out LAKE
  pfscope mine synth --jobs 450000 --out LAKE       ten million files, in a minute or two

LAKE/truth.json says what is known: customised stripes, top applications, sequential and read
ratios, sharing, middleware, coverage, how many runs are slow. The same seed makes the same month.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add("--jobs", type=int, default=1000, metavar="N", help="runs with a log (default: 1000)")
    add("--out", type=Path, required=True, metavar="LAKE", help="a directory that is new or empty")
    add("--days", type=int, default=31, metavar="N", help="of how many days (default: 31)")
    add("--seed", type=int, default=7, metavar="N", help="another seed, another month (default: 7)")


def run(args: argparse.Namespace) -> int:
    """Make the month."""
    from pfscope.mine.synth import synthesize

    with progress("runs", args.jobs) as told:
        known = synthesize(args.out, args.jobs, args.seed, args.days, told)
    print(f"{known['runs']} runs with {known['files']} files are in {args.out}", file=sys.stderr)
    return 0
