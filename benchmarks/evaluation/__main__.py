"""Judges the watch by scenarios of the laboratory, whose truth is known.

    python -m benchmarks.evaluation [--scenario NAME] [--preset mini|puhti] [--runs N] [--tuning]

For each scenario: which part of the troubles was found, and within three intervals; after how many
intervals (the median); how often the true user is the first cause, and among the first three; which
part paged; how many pages there were, which part of them was about a trouble; and, for each file
system and month, how many pages were about none, and how many of those have no ground in truth.
"""

import argparse
import json
import os
import sys

from benchmarks.evaluation.plan import EVALUATION, QUIET_DAYS, TUNING, tasks
from benchmarks.evaluation.runs import overall, run_all
from pfscope.cli.output import print_rows
from pfscope.lab.scenarios import SCENARIOS

AIMS = {"in_time": 0.95, "first": 0.95, "false_pages_month": 1.0}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scenario", choices=SCENARIOS, action="append")
    parser.add_argument("--preset", choices=("mini", "puhti"), action="append")
    parser.add_argument("--runs", type=int, default=2, help="of each scenario (default: 2)")
    parser.add_argument("--days", type=int, help="quiet ones, of each preset (default: 90, 30)")
    parser.add_argument("--tuning", action="store_true", help="with the tuning seeds")
    parser.add_argument("--short", action="store_true", help="the short way wherever it shows all")
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--format", choices=("table", "csv", "json"), default="table")
    args = parser.parse_args()
    quiet = dict.fromkeys(QUIET_DAYS, args.days) if args.days else QUIET_DAYS
    every = tasks(
        TUNING if args.tuning else EVALUATION, args.preset or tuple(QUIET_DAYS),
        args.scenario or tuple(SCENARIOS), args.runs, quiet, args.short,
    )  # fmt: skip
    done = []

    def told(task, seconds):
        done.append(task)
        where = f"{task.scenario}, {task.preset}, seed {task.seed}"
        print(f"{len(done)}/{len(every)} {where}: after {seconds:.0f} s", file=sys.stderr)

    verdicts = run_all(every, args.workers, told)
    rows = [verdict.row() for verdict in (*verdicts, *overall(verdicts))]
    if args.format == "json":
        print(json.dumps({"aims": AIMS, "rows": rows}))
    else:
        print_rows(list(rows[0]), [[[r[name] for r in rows] for name in rows[0]]], args.format)
    return 0


if __name__ == "__main__":
    sys.exit(main())
