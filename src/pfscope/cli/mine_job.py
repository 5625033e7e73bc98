"""`pfscope mine job LOG|JOBID`: what held a run up, with the evidence and what to do about it."""

import argparse
import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pfscope.cli.mine_rules import add_rules, rules_of
from pfscope.cli.output import add_format, print_rows
from pfscope.cli.source import add_data, source_of
from pfscope.config import add_config
from pfscope.errors import UsageError

if TYPE_CHECKING:
    from pfscope.mine.explain_facts import Facts
    from pfscope.mine.sources import Tables

EXAMPLES: Final = """examples:
  pfscope mine job ior_id6265799.darshan
  pfscope mine job 6265799 --lake LAKE --operation read
  pfscope mine job 6265799 --lake LAKE --out job.html
  pfscope mine job app.darshan --lake LAKE --format json
  pfscope mine job 6265799 --lake LAKE --data /var/lib/pfscope --out both-sides.html

LOG is a Darshan log, read on the spot; with --lake it is compared with the earlier runs of its
program. JOBID is a job of the lake: its run that moved most bytes; a run by itself is named by the
digest of its log. With --data or --server, what the servers saw of the job stands beside it.
docs/reference/mine-job.md tells what the JSON holds.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EXAMPLES
    parser.add_argument("job", metavar="LOG|JOBID", help="a Darshan log, or a job of the lake")
    parser.add_argument("--lake", type=Path, metavar="DIR", help="the lake of logs")
    add_rules(parser)
    parser.add_argument(
        "--out", type=Path, metavar="FILE.html", help="write a page on it that needs no network"
    )
    add_format(parser)
    add_data(parser, required=False)
    add_config(parser)


def run(args: argparse.Namespace) -> int:
    """Explain it."""
    from pfscope.mine.explain import gather_facts

    rules = rules_of(args)
    with ExitStack() as stack:
        tables, log, among = _opened(args, stack)
        facts = gather_facts(tables, log, rules, among)
        if args.data or args.server:
            facts = _with_servers(facts, args, stack)
        if args.out:
            _write_page(args, facts)
        else:
            _write(args.format, facts)
    return 0


def _opened(args: argparse.Namespace, stack: ExitStack) -> "tuple[Tables, str, Tables | None]":
    """Return the tables that have the run, its log, and the lake if one was named."""
    from pfscope.mine.explain import find_run, only_log, runs_of
    from pfscope.mine.sources import open_lake, open_log

    lake = stack.enter_context(open_lake(args.lake)) if args.lake else None
    path = Path(args.job)
    if path.is_file():
        tables = stack.enter_context(open_log(path))
        return tables, only_log(tables), lake
    if lake is None:
        raise UsageError(
            f"there is no log {args.job}; to explain a job by its id, name the lake: --lake DIR"
        )
    log = find_run(lake, args.job)
    if (runs := runs_of(lake, args.job)) > 1:
        print(
            f"job {args.job} has {runs} runs: this is {log}, which moved most bytes",
            file=sys.stderr,
        )
    return lake, log, lake


def _with_servers(facts: "Facts", args: argparse.Namespace, stack: ExitStack) -> "Facts":
    from pfscope.mine.explain import with_servers
    from pfscope.query.data import Data

    return with_servers(facts, stack.enter_context(Data(source_of(args))))


def _write(style: str, facts: "Facts") -> None:
    from pfscope.mine.explain import as_json, findings

    if style == "json":
        print(json.dumps(as_json(facts), indent=1, allow_nan=False))
    elif style == "csv":
        rows = [finding.told() for finding in findings(facts)]
        columns = ["severity", "code", "drishti", "text", "advice", "evidence"]
        print_rows(columns, [[[_cell(row[name]) for row in rows] for name in columns]], "csv")
    else:
        from pfscope.cli.mine_job_text import job_text

        sys.stdout.write(job_text(facts))


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return " ".join(value)
    return json.dumps(value) if isinstance(value, dict) else value


def _write_page(args: argparse.Namespace, facts: "Facts") -> None:
    from pfscope.report.gallery import write_file
    from pfscope.report.job_page import job_page

    page = job_page(facts)
    write_file(args.out, page)
    print(f"{args.out} is written, {len(page.encode()) / 1e6:.1f} MB", file=sys.stderr)
