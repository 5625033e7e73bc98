"""`pfscope lab run DIR`: keeps a simulated site alive as files, for agents to collect from.

Below DIR each server has the tree of a real one; `DIR/truth/incidents.json` tells, once the first
step is there, which incidents the run has had so far or is about to have. It ends on SIGTERM and
Ctrl-C, between two steps.
"""

import argparse
import json
import math
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from pfscope.errors import UsageError
from pfscope.lab import incidents
from pfscope.lab.cluster import Cluster, Options
from pfscope.lab.dialects import DIALECTS
from pfscope.lab.dump import FrameLogs, Run
from pfscope.lab.faults import FAULTS, IDENTITY_FAULTS, parse_faults
from pfscope.lab.live import LiveTree, Pace, Step, keep_going, require_empty

EXAMPLES = """examples:
  pfscope lab run /tmp/site &
  pfscope agent --root /tmp/site/mds1 --interval 2 --once --print

  pfscope lab run /tmp/site --step 60 --speed 30     a simulated minute every two seconds
"""
_LOOK_S = 0.05


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.epilog = EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "dir", type=Path, metavar="DIR", help="where the servers' trees go; empty or new"
    )
    parser.add_argument("--preset", default="mini", help="mini, puhti, mini-x3 (default: mini)")
    parser.add_argument(
        "--step", type=float, default=2.0, metavar="S",
        help="simulated seconds between two states of the files (default: 2)",
    )  # fmt: skip
    parser.add_argument(
        "--speed", type=float, default=1.0, metavar="N",
        help="simulated seconds in a real one (default: 1)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=7, help="another seed, another site")
    parser.add_argument(
        "--dialect", default="2.12", metavar="RELEASE,…",
        help=f"servers take them in turn: {', '.join(DIALECTS)} (default: 2.12)",
    )  # fmt: skip
    parser.add_argument("--incidents", type=Path, metavar="FILE", help="JSON list of incidents")
    parser.add_argument(
        "--faults", type=parse_faults, default=IDENTITY_FAULTS, metavar="NAME,…",
        help=f"none, all, or some of {', '.join(FAULTS)} (default: those in ids)",
    )  # fmt: skip
    parser.add_argument(
        "--history", type=float, default=0.0, metavar="HOURS",
        help="write so much of the past as frames into DIR/history, before it is alive",
    )  # fmt: skip
    parser.add_argument(
        "--hold", type=Path, metavar="FILE", help="time stands still until this file is there"
    )
    parser.add_argument(
        "--duration", type=float, metavar="S", help="end after so many simulated seconds"
    )


def run(args: argparse.Namespace) -> int:
    """Keep the tree going until the duration is over or somebody ends it."""
    if min(args.step, args.speed, args.duration or 1.0) <= 0:
        raise UsageError("--step, --speed and --duration must be above zero")
    require_empty(args.dir)
    cluster = Cluster(
        Options(
            preset=args.preset,
            seed=args.seed,
            dialects=tuple(args.dialect.split(",")),
            faults=args.faults,
            incidents=incidents.read(args.incidents) if args.incidents else (),
        )
    )
    past_s = args.history * 3600
    hours = (past_s + args.duration) / 3600 if args.duration else math.inf
    start = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=past_s)
    steps = cluster.run(start, hours, args.step)
    pace = Pace(args.step, args.speed)
    with _ended_by_signals() as stop:
        if past_s:
            _write_past(args.dir / "history", islice(steps, int(past_s / args.step)), args.step)
        tree, teller = LiveTree(args.dir), _Teller(cluster, args.dir)
        if args.hold:
            keep_going(tree, islice(steps, 1), pace, stop, told=teller)
            while not args.hold.exists() and not stop.wait(_LOOK_S):
                pass
        keep_going(tree, steps, pace, stop, told=teller)
    return 0


def _write_past(out: Path, steps: Iterable[Step], step_s: float) -> None:
    """Write frames as an agent would have made them, as fast as it goes."""
    with FrameLogs(out, Run(datetime.now(UTC), 1.0, step_s, "frames")) as logs:
        for step in steps:
            for snapshot in step:
                (out / snapshot.server).mkdir(parents=True, exist_ok=True)
                logs.write(snapshot)


class _Teller:
    """Keeps the truth beside the tree, and writes a line for each step on a terminal."""

    def __init__(self, cluster: Cluster, directory: Path) -> None:
        self._cluster = cluster
        self._truth = directory / "truth" / "incidents.json"
        self._told: list[dict[str, Any]] | None = None

    def __call__(self, step: Step, late_s: float) -> None:
        known = _incidents(self._cluster)
        if known != self._told:
            self._told = known
            self._truth.parent.mkdir(parents=True, exist_ok=True)
            beside = self._truth.with_suffix(".new")
            beside.write_text(json.dumps(known, indent=1) + "\n")
            beside.replace(self._truth)
        if sys.stdout.isatty():
            print(_line(step, late_s), flush=True)


def _incidents(cluster: Cluster) -> list[dict[str, Any]]:
    jobs = cluster.world.staging.incident_jobs
    known = [incident for incident in cluster.incidents if incident.number in jobs]
    return [incidents.told(i, jobs[i.number], cluster.site) for i in known]


def _line(step: Step, late_s: float) -> str:
    entries = sum(len(table.ids) for snapshot in step for table in snapshot.tables)
    late = f", {late_s:.1f} s late" if late_s >= 0.1 else ""
    when = datetime.fromtimestamp(step[0].true_time_ns / 10**9, UTC) if step else None
    return f"{when:%Y-%m-%d %H:%M:%S} UTC: {len(step)} servers, {entries} entries{late}"


@contextmanager
def _ended_by_signals() -> Iterator[threading.Event]:
    """Set an event instead of ending at once, so that the last step is whole."""
    stop = threading.Event()
    kinds = (signal.SIGTERM, signal.SIGINT)
    before = {kind: signal.signal(kind, lambda *_: stop.set()) for kind in kinds}
    try:
        yield stop
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
