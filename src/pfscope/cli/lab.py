"""`pfscope lab dump|run|scenarios`: simulates a site whose truth is known, as files or alive."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from pfscope.cli import lab_run
from pfscope.cli.output import add_format, print_rows
from pfscope.errors import InputError, UsageError
from pfscope.lab import incidents
from pfscope.lab.calibration import BUILT_IN, from_csv
from pfscope.lab.cluster import DEFAULT_START, Cluster, Observation, Options
from pfscope.lab.dialects import DIALECTS
from pfscope.lab.dump import Form, Run, check, dump
from pfscope.lab.faults import FAULTS, IDENTITY_FAULTS, described, parse_faults
from pfscope.lab.scenarios import INTERVAL_S, SCENARIOS, Story, story, write_truth

EXAMPLES = f"""faults:
{described(FAULTS)}
  The default is {",".join(sorted(IDENTITY_FAULTS))}, in the proportions of a real site.

examples:
  pfscope lab dump OUT --preset mini --hours 1
  pfscope lab dump OUT --preset puhti --hours 24 --compress
  pfscope lab dump OUT --dialect 2.12,2.15 --faults all --frames
  pfscope lab dump OUT --incidents incidents.json
  pfscope lab dump OUT --scenario metadata-storm --frames
  pfscope lab run LIVE --preset mini --speed 10
  pfscope lab scenarios

  incidents.json: [{{"kind": "metadata_storm", "start": 1200, "duration_s": 900, "factor": 20}}]
"""
SCENARIO_COLUMNS = ("name", "summary", "expected", "hours")
_LARGE = 200
"""Sites with so many nodes have enough text for a second process."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the two commands."""
    parser.epilog = EXAMPLES[EXAMPLES.index("examples:") : EXAMPLES.index("  incidents.json")]
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    summary = "write what a site prints and what really happened"
    dumping = commands.add_parser(
        "dump", help=summary, description=f"{summary.capitalize()}.", epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    _configure_dump(dumping)
    dumping.set_defaults(command_run=_dump)
    summary = "keep a live tree of files going, for agents to collect from"
    running = commands.add_parser("run", help=summary, description=f"{summary.capitalize()}.")
    lab_run.configure(running)
    running.set_defaults(command_run=lab_run.run)
    summary = "list the scenarios that dump --scenario takes"
    listing = commands.add_parser("scenarios", help=summary, description=f"{summary.capitalize()}.")
    add_format(listing)
    listing.set_defaults(command_run=_list)


def run(args: argparse.Namespace) -> int:
    """Run one of them."""
    code: int = args.command_run(args)
    return code


def _configure_dump(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("out", metavar="OUT", type=Path, help="a directory that is new or empty")
    add("--preset", default="mini", help="mini, puhti, or a multiple: puhti-x4 (default: mini)")
    add("--hours", type=float, metavar="H", help="how long (default: 1, or the scenario's)")
    add("--interval", type=float, default=120.0, metavar="S",
        help="seconds between observations (default: 120)")  # fmt: skip
    add("--seed", type=int, default=7, metavar="N", help="another seed, another site (default: 7)")
    add("--dialect", default="2.12", metavar="RELEASE,…",
        help=f"servers take them in turn: {', '.join(DIALECTS)} (default: 2.12)")  # fmt: skip
    add("--start", type=_time, default=DEFAULT_START, metavar="ISO",
        help="time of the first observation, UTC (default: 2022-10-27T00:00:00)")  # fmt: skip
    add("--incidents", type=Path, metavar="FILE", help="JSON list of incidents to inject")
    add("--scenario", metavar="NAME",
        help="a story whose right answer is known: see pfscope lab scenarios")  # fmt: skip
    add("--faults", type=parse_faults, default=IDENTITY_FAULTS, metavar="none|all|NAME,…",
        help="what goes wrong; see below")  # fmt: skip
    add("--cleanup-interval", type=int, default=600, metavar="S",
        help="Lustre's job_cleanup_interval; 0: never (default: 600)")  # fmt: skip
    add("--calibration", type=Path, metavar="FILE",
        help="rates to calibrate on: CSV of target, operation, minute, rate "
        "(default: built-in figures, the same on every machine)")  # fmt: skip
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--compress", action="store_true", help="write .txt.gz")
    form.add_argument("--frames", action="store_true", help="write a frame log for each server")
    add("--workers", type=int, metavar="N", help="processes that make text (default: by the site)")


def _time(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"not a time: {text!r}; use 2022-10-27T00:00:00") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _dump(args: argparse.Namespace) -> int:
    form: Form = "frames" if args.frames else "gzip" if args.compress else "text"
    if args.scenario and (args.incidents or args.calibration or args.interval != INTERVAL_S):
        raise UsageError("--scenario brings its own incidents, calibration and interval")
    told = story(args.scenario, args.preset, args.seed, args.hours) if args.scenario else None
    hours = told.hours if told else 1.0 if args.hours is None else args.hours
    plan = Run(args.start, hours, args.interval, form)
    check(args.out, plan)
    if args.cleanup_interval < 0:
        raise UsageError("--cleanup-interval must not be negative")
    cluster = Cluster(_options(args, told))
    large = len(cluster.site.compute) >= _LARGE
    workers = args.workers if args.workers is not None else min(2, os.cpu_count() or 1) * large
    plan = Run(args.start, hours, args.interval, form, max(0, workers))
    try:
        with _progress(plan.observations) as hear:
            dump(args.out, cluster, plan, hear)
        if told:
            write_truth(args.out / "truth" / "scenario.json", args.scenario, told, args.start)
    except OSError as error:
        raise InputError(f"cannot write into {args.out}: {error.strerror or error}") from error
    return 0


def _options(args: argparse.Namespace, told: Story | None) -> Options:
    plain = told.options if told else Options(
        preset=args.preset,
        seed=args.seed,
        faults=args.faults,
        incidents=incidents.read(args.incidents) if args.incidents else (),
        calibration=from_csv(args.calibration) if args.calibration else BUILT_IN,
    )  # fmt: skip
    dialects = tuple(args.dialect.split(","))
    return replace(plain, dialects=dialects, cleanup_interval_s=args.cleanup_interval)


def _list(args: argparse.Namespace) -> int:
    """Print the scenarios."""
    every = list(SCENARIOS.values())
    values = [[getattr(s, name) for s in every] for name in SCENARIO_COLUMNS]
    print_rows(SCENARIO_COLUMNS, [values], args.format)
    return 0


@contextmanager
def _progress(total: int) -> Iterator[Callable[[Observation], None]]:
    """Show a progress bar on stderr, on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("observations", total=total)
        yield lambda _: progress.advance(task)
