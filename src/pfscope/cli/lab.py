"""`pfscope lab dump|run`: simulates a Lustre site whose truth is known, as files or alive."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pfscope.cli import lab_run
from pfscope.errors import InputError, UsageError
from pfscope.lab import incidents
from pfscope.lab.calibration import BUILT_IN, from_csv
from pfscope.lab.cluster import DEFAULT_START, Cluster, Observation, Options
from pfscope.lab.dialects import DIALECTS
from pfscope.lab.dump import Form, Run, check, dump
from pfscope.lab.faults import FAULTS, IDENTITY_FAULTS, described, parse_faults

EXAMPLES = f"""faults:
{described(FAULTS)}
  The default is {",".join(sorted(IDENTITY_FAULTS))}, in the proportions of a real site.

examples:
  pfscope lab dump OUT --preset mini --hours 1
  pfscope lab dump OUT --preset puhti --hours 24 --compress
  pfscope lab dump OUT --dialect 2.12,2.15 --faults all --frames
  pfscope lab dump OUT --incidents incidents.json
  pfscope lab run LIVE --preset mini --speed 10

  incidents.json: [{{"kind": "metadata_storm", "start": 1200, "duration_s": 900, "factor": 20}}]
"""
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


def run(args: argparse.Namespace) -> int:
    """Run one of them."""
    code: int = args.command_run(args)
    return code


def _configure_dump(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("out", metavar="OUT", type=Path, help="a directory that is new or empty")
    add("--preset", default="mini", help="mini, puhti, or a multiple: puhti-x4 (default: mini)")
    add("--hours", type=float, default=1.0, metavar="H", help="how long (default: 1)")
    add("--interval", type=float, default=120.0, metavar="S",
        help="seconds between observations (default: 120)")  # fmt: skip
    add("--seed", type=int, default=7, metavar="N", help="another seed, another site (default: 7)")
    add("--dialect", default="2.12", metavar="RELEASE,…",
        help=f"servers take them in turn: {', '.join(DIALECTS)} (default: 2.12)")  # fmt: skip
    add("--start", type=_time, default=DEFAULT_START, metavar="ISO",
        help="time of the first observation, UTC (default: 2022-10-27T00:00:00)")  # fmt: skip
    add("--incidents", type=Path, metavar="FILE", help="JSON list of incidents to inject")
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
    plan = Run(args.start, args.hours, args.interval, form)
    check(args.out, plan)
    if args.cleanup_interval < 0:
        raise UsageError("--cleanup-interval must not be negative")
    cluster = Cluster(
        Options(
            preset=args.preset,
            seed=args.seed,
            dialects=tuple(args.dialect.split(",")),
            faults=args.faults,
            incidents=incidents.read(args.incidents) if args.incidents else (),
            calibration=from_csv(args.calibration) if args.calibration else BUILT_IN,
            cleanup_interval_s=args.cleanup_interval,
        )
    )
    large = len(cluster.site.compute) >= _LARGE
    workers = args.workers if args.workers is not None else min(2, os.cpu_count() or 1) * large
    plan = Run(args.start, args.hours, args.interval, form, max(0, workers))
    try:
        with _progress(plan.observations) as told:
            dump(args.out, cluster, plan, told)
    except OSError as error:
        raise InputError(f"cannot write into {args.out}: {error.strerror or error}") from error
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
