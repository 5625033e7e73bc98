"""`pfscope logs import darshan|slurm|lmt`: files into a lake; it may be stopped and repeated."""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pfscope.cli.inputs import read_chunks
from pfscope.cli.logs_lmt import import_lmt, is_live
from pfscope.cli.output import add_format, print_rows
from pfscope.errors import InputError, UsageError
from pfscope.times import time_us
from pfscope.untrusted import printable

if TYPE_CHECKING:
    from pfscope.mine.importing import Source, Summary, Watch
    from pfscope.mine.inputs import Period
    from pfscope.mine.lake import Lake

EXAMPLES = """examples:
  pfscope logs import darshan /darshan-logs --lake LAKE --from 2026-11-01 --to 2026-11-30
  pfscope logs import slurm sacct-*.txt.gz --lake LAKE
  pfscope logs import slurm sacct.json --lake LAKE
  pfscope logs import lmt /global/lmt/2026-11-*.h5lmt --lake LAKE
  pfscope logs import lmt mysql://reader@lmt-server/filesystem_scratch --lake LAKE \\
    --time-zone Europe/Helsinki --password-file ~/.lmt-password
"""
_SHOWN = 10
COLUMNS = ("state", "files", "rows", "reason")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the kinds of logs and their options."""
    parser.epilog = EXAMPLES
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True)
    darshan = kinds.add_parser("darshan", help="Darshan's logs, versions 3.00 to 3.41")
    darshan.add_argument(
        "--processes", type=int, metavar="N", help="that read logs (default: one for each core)"
    )
    darshan.add_argument("--again", action="store_true", help="logs in quarantine are tried again")
    slurm = kinds.add_parser("slurm", help="what sacct printed: --parsable2, --parsable or --json")
    slurm.add_argument(
        "--fields", type=lambda text: tuple(text.split(",")), metavar="NAME,…",
        help="the columns of files without a header, as sacct's --format had them",
    )  # fmt: skip
    slurm.add_argument(
        "--time-zone", default="UTC", metavar="ZONE", help="in which sacct ran (default: UTC)"
    )
    lmt = kinds.add_parser("lmt", help="LMT: its tables in SQLite or MySQL, TOKIO's HDF5, H5LMT")
    lmt.add_argument(
        "--time-zone", default="UTC", metavar="ZONE",
        help="of the clock that LMT's tables have; HDF5 needs none (default: UTC)",
    )  # fmt: skip
    lmt.add_argument(
        "--password-file", type=Path, metavar="FILE",
        help="holds the password for mysql:// (default: $PFSCOPE_LMT_PASSWORD)",
    )  # fmt: skip
    for kind, function in ((darshan, _darshan), (slurm, _slurm), (lmt, import_lmt)):
        add_common(kind)
        kind.set_defaults(logs_import=function)


def add_common(parser: argparse.ArgumentParser) -> None:
    """Declare what all kinds have."""
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="files, and directories to look for them"
    )
    parser.add_argument("--lake", type=Path, required=True, metavar="DIR", help="the lake")
    parser.add_argument(
        "--from", dest="begin", metavar="TIME", help="what began before is left out: 2026-11-01"
    )
    parser.add_argument(
        "--to", dest="end", metavar="TIME", help="what began later is left out: 2026-11-30, -1d"
    )
    add_format(parser)


def run(args: argparse.Namespace) -> int:
    """Import, and tell what became of the files."""
    from pfscope.mine.importing import Source
    from pfscope.mine.lake import writing
    from pfscope.mine.striping import write_hints
    from pfscope.mine.tidying import tidy

    source = Source(args.kind, tuple(args.paths), (), period_of(args))
    missing = [path for path in args.paths if not is_live(path) and not Path(path).exists()]
    if missing:
        raise InputError(f"cannot read {printable(missing[0])}: there is no such file")
    began = time.monotonic()
    try:
        with writing(args.lake) as lake, _shown() as watch:
            summary = args.logs_import(args, lake, source, watch)
            tidy(lake)
            script = write_hints(lake)
    except OSError as error:
        told = error.strerror or error
        raise InputError(f"cannot write the lake {args.lake}: {told}; repeat the import") from error
    _tell(summary, args, time.monotonic() - began)
    if script is not None:
        print(f"the lake is on Lustre: {script} spreads its days over OSTs", file=sys.stderr)
    nothing = bool(summary.records) and all(r.state == "quarantined" for r in summary.records)
    return InputError.exit_code if nothing else 0


def period_of(args: argparse.Namespace) -> "Period":
    """Return the period that was asked for."""
    from pfscope.mine.inputs import Period

    now = time.time_ns() // 1000
    begin = None if args.begin is None else time_us(args.begin, now_us=now)
    end = None if args.end is None else time_us(args.end, now_us=now, end=True)
    if begin is not None and end is not None and begin >= end:
        raise UsageError("--from is not before --to")
    return Period(begin, end)


def _darshan(args: argparse.Namespace, lake: "Lake", source: "Source", watch: "Watch") -> "Summary":
    from pfscope.mine.darshan_import import ENDINGS, write_logs
    from pfscope.mine.importing import import_files

    if args.processes is not None and args.processes < 1:
        raise UsageError("--processes must be 1 or more")
    named = source._replace(endings=ENDINGS, again=args.again)
    return import_files(lake, named, write_logs, watch, args.processes)


def _slurm(args: argparse.Namespace, lake: "Lake", source: "Source", watch: "Watch") -> "Summary":
    from pfscope.mine.slurm_import import ENDINGS, Reading, import_slurm

    reading = Reading(read_chunks, fields=args.fields, time_zone=args.time_zone)
    return import_slurm(lake, source._replace(endings=ENDINGS), reading, watch)


@contextmanager
def _shown() -> Iterator["Watch"]:
    """Show a progress bar, on a terminal."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (TextColumn("importing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        yield _Bar(progress.add_task, progress.advance)


class _Bar:
    """A watch that moves a bar."""

    def __init__(self, add: Callable[..., object], advance: Callable[..., object]) -> None:
        self._add = add
        self._advance = advance
        self._task: object = None

    def total(self, files: int) -> None:
        self._task = self._add("importing", total=files)

    def done(self, files: int) -> None:
        self._advance(self._task, files)


def _tell(summary: "Summary", args: argparse.Namespace, took_s: float) -> None:
    """Print what became of the files, by state and reason; on stderr a summary."""
    groups: Counter[tuple[str, str]] = Counter()
    rows: Counter[tuple[str, str]] = Counter()
    for record in summary.records:
        group = (record.state, record.reason or "")
        groups[group] += 1
        rows[group] += record.rows
    ordered = sorted(groups, key=lambda group: (-groups[group], group))
    batch: list[list[object]] = [
        [state for state, _ in ordered],
        [groups[group] for group in ordered],
        [rows[group] for group in ordered],
        [reason for _, reason in ordered],
    ]
    if ordered or args.format != "table":
        print_rows(COLUMNS, [batch], args.format)
    refused = [record for record in summary.records if record.state == "quarantined"]
    for record in refused[:_SHOWN]:
        print(f"{printable(record.path)}: {printable(record.reason or '')}", file=sys.stderr)
    if len(refused) > _SHOWN:
        print(f"… and {len(refused) - _SHOWN} more: pfscope logs ls --files", file=sys.stderr)
    outside = sum(record.state == "outside" for record in summary.records)
    read = len(summary.records) - len(refused) - outside
    parts = [
        f"{read} imported in {took_s:.1f} s",
        f"{summary.known} were there already",
        f"{len(refused)} in quarantine",
        *([f"{outside} outside the period"] if outside else []),
    ]
    print(f"{summary.found} files: {', '.join(parts)}", file=sys.stderr)
