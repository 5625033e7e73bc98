"""`pfscope import slurm`: what sacct printed into the table `jobs` of a store.

It may be repeated with the same and with overlapping texts: only what is new is written.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from pfscope.cli.inputs import CHUNK_BYTES, read_chunks
from pfscope.config import add_config, load_config
from pfscope.errors import InputError
from pfscope.ingest.jobs import JobCounts, JobRecorder
from pfscope.logs.slurm import ALLOCATIONS, Defects, SacctBatch, iter_sacct
from pfscope.logs.slurm_values import times
from pfscope.store.embedded import open_store
from pfscope.store.housekeeping import Rules
from pfscope.store.protocol import Store

EXAMPLES = """examples:
  TZ=UTC sacct --allusers --parsable2 --duplicates --starttime now-2days --format \\
    JobID,JobIDRaw,User,UID,GID,Account,Partition,State,Submit,Start,End,NNodes,NodeList,JobName \\
    | pfscope import slurm - --data DATA
  pfscope import slurm sacct-*.txt.gz --data DATA
  pfscope import slurm old.txt --fields JobID,User,Account,Submit,Start,End --data DATA
"""
_AT_ONCE = 200_000
"""Jobs that are compared with the store, and committed, together."""
_SHOWN = 10
_COMPRESSED = (".gz", ".zst")
_NEWEST = """
    SELECT epoch_us(coalesce((SELECT max(time) FROM frames), (SELECT max(submit) FROM jobs))) AS us
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="sacct's output, plain or compressed; - is stdin"
    )
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="the store")
    parser.add_argument(
        "--format", choices=("auto", "parsable", "json"), default="auto", dest="form",
        help="of the files: sacct --parsable or --parsable2, or --json (default: by their look)",
    )  # fmt: skip
    parser.add_argument(
        "--fields", type=lambda text: text.split(","), metavar="NAME,…",
        help="the columns of files without a header, as sacct's --format had them",
    )  # fmt: skip
    parser.add_argument(
        "--time-zone", default="UTC", metavar="ZONE", help="in which sacct ran (default: UTC)"
    )
    add_config(parser)


def run(args: argparse.Namespace) -> int:
    """Import all files, one after another."""
    config = load_config(args.config)
    _check(args)
    defects = Defects()
    with open_store(args.data, rules=Rules(retention=config.retention)) as store:
        recorder = JobRecorder(store, time.time_ns() // 1000)
        steps = 0
        for name in args.files:
            found = Defects()
            steps += _import(recorder, args, name, found)
            _tell_places(name, found)
            defects.extend(found)
        _maintain(store)
    _tell(recorder.counts, steps, defects)
    nothing = not recorder.counts.jobs and not steps and bool(defects.rejected)
    return InputError.exit_code if nothing else 0


def _check(args: argparse.Namespace) -> None:
    """Refuse what cannot be done before a store is made."""
    times(args.time_zone)
    for name in args.files:
        if name != "-" and not Path(name).exists():
            raise InputError(f"cannot read {name}: there is no such file")


def _import(recorder: JobRecorder, args: argparse.Namespace, name: str, defects: Defects) -> int:
    """Import one file; return how many steps it has."""
    steps = waiting = 0
    jobs: list[pa.RecordBatch] = []
    try:
        for batch in _batches(args, name):
            defects.extend(batch.defects)
            steps += batch.steps.num_rows
            waiting += batch.allocations.num_rows
            jobs.append(batch.allocations)
            if waiting >= _AT_ONCE:
                recorder.record(pa.Table.from_batches(jobs, ALLOCATIONS))
                jobs, waiting = [], 0
    except InputError:
        # What was read before the file broke off is as good as any.
        recorder.record(pa.Table.from_batches(jobs, ALLOCATIONS))
        raise
    recorder.record(pa.Table.from_batches(jobs, ALLOCATIONS))
    return steps


def _batches(args: argparse.Namespace, name: str) -> Iterator[SacctBatch]:
    chunks = _watched(name)
    try:
        yield from iter_sacct(chunks, form=args.form, fields=args.fields, time_zone=args.time_zone)
    except _UnreadableError:
        raise
    except InputError as error:
        raise InputError(f"{_where(name)}: {error}") from error


class _UnreadableError(InputError):
    """A file cannot be read; its name is told already."""


def _watched(name: str) -> Iterator[bytes]:
    """Read a file with a progress bar, on a terminal."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    size = None
    if name != "-" and not name.endswith(_COMPRESSED) and Path(name).is_file():
        size = 1 + -(-Path(name).stat().st_size // CHUNK_BYTES)
    shown = track(
        read_chunks(name), "importing", size, console=console, disable=not console.is_terminal
    )
    try:
        yield from shown
    except InputError as error:
        raise _UnreadableError(str(error)) from error


def _where(name: str) -> str:
    return "standard input" if name == "-" else name


def _maintain(store: Store) -> None:
    """Do the housekeeping as of the latest frame: old jobs must not make young usage look old."""
    newest = store.query(_NEWEST)["us"].to_pylist()[0]
    if newest is not None:
        store.maintain(newest)


def _tell_places(name: str, defects: Defects) -> None:
    for place in defects.first[:_SHOWN]:
        print(f"{_where(name)}: line {place.line}: {place.reason}", file=sys.stderr)


def _tell(counts: JobCounts, steps: int, defects: Defects) -> None:
    parts = [f"{counts.new} new", f"{counts.updated} updated", f"{counts.unchanged} unchanged"]
    if counts.older:
        parts.append(f"{counts.older} older than what is stored")
    print(f"{counts.jobs} jobs with {steps} steps: {', '.join(parts)}", file=sys.stderr)
    if counts.without_submit:
        print(
            f"{counts.without_submit} jobs without a time of submission: the first time known of"
            " them, or that of this import, stands there",
            file=sys.stderr,
        )
    for what, counts_of in (
        ("records left out", defects.rejected),
        ("values not understood", defects.unread),
    ):
        if counts_of:
            ordered = sorted(counts_of.items(), key=lambda item: (-item[1], item[0]))
            reasons = ", ".join(f"{n} × {reason}" for reason, n in ordered)
            print(f"{what}: {reasons}", file=sys.stderr)
