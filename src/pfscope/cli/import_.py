"""`pfscope import dumps|frames|slurm`: what was recorded into a store, by the path of what is live.

It may be stopped and started again: what is in the store already is passed by.
"""

import argparse
import heapq
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from pathlib import Path

from pfscope.cli import import_slurm
from pfscope.cli.inputs import read_chunks
from pfscope.config import add_config, load_config
from pfscope.errors import InputError
from pfscope.frames import Damage, Frame, FramesError, Origin, Section, frame_files, iter_frames
from pfscope.frames.dumps import DUMP_EPOCH, Dump, find_dumps
from pfscope.ingest import Ingest
from pfscope.ingest.clock import ServerClock
from pfscope.ingest.reading import Readable, TextFrame
from pfscope.store.embedded import open_store
from pfscope.store.housekeeping import Rules

EXAMPLES = """examples:
  pfscope import dumps DUMPS --data DATA
  pfscope import frames SPOOL/*.pfl --data DATA
  pfscope import slurm sacct.txt --data DATA

DUMPS is a tree SERVER/YYYYmmddTHHMMSSZ.txt, plain, .gz or .zst, of what `lctl get_param` printed at
that time:

  cd DUMPS/$(hostname -s)
  while sleep 60; do
    lctl get_param '*.*.job_stats' '*.*.stats' '*.*.md_stats' > $(date -u +%Y%m%dT%H%M%SZ).txt
  done
"""
_AT_ONCE = 32
_CHECKPOINT_EVERY = 2048


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the commands."""
    parser.epilog = EXAMPLES
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    dumps = commands.add_parser("dumps", help="import a tree of `lctl get_param` outputs")
    dumps.add_argument("source", type=Path, metavar="DIR", help="DIR/SERVER/TIME.txt files")
    frames = commands.add_parser("frames", help="import frame logs")
    frames.add_argument("sources", nargs="+", metavar="FILE", help="a segment, a log, or a tree")
    for command in (dumps, frames):
        command.add_argument("--data", type=Path, required=True, metavar="DIR", help="the store")
        add_config(command)
        command.set_defaults(command_run=_import_frames)
    summary = "import what Slurm's sacct printed of jobs"
    told = f"{summary[0].upper()}{summary[1:]}."
    slurm = commands.add_parser("slurm", help=summary, description=told)
    import_slurm.configure(slurm)
    slurm.set_defaults(command_run=import_slurm.run)


def run(args: argparse.Namespace) -> int:
    """Import everything that is named."""
    code: int = args.command_run(args)
    return code


def _import_frames(args: argparse.Namespace) -> int:
    if args.command == "dumps":
        dumps = _dumps_by_time(args.source)
        frames: Iterable[Readable] = map(_dump_frame, dumps)
        total = len(dumps)
    else:
        try:
            paths = [file for source in args.sources for file in frame_files(source)]
            total = sum(1 for _ in _frames_by_time(paths))
        except FramesError as error:
            raise InputError(f"cannot read the frames: {error}") from error
        except OSError as error:
            raise InputError(f"cannot read {error.filename}: {error.strerror}") from error
        frames = _frames_by_time(paths)
    config = load_config(args.config)
    with open_store(args.data, rules=Rules(retention=config.retention)) as store:
        ingest = Ingest(store, config, wait_s=0)
        ingest.recover(())
        taken, known = _import(ingest, frames, total)
        store.maintain(max(ingest.known_since.values(), default=0))
    print(f"{taken} frames imported, {known} were there already", file=sys.stderr)
    return 0


def _import(ingest: Ingest, frames: Iterable[Readable], total: int) -> tuple[int, int]:
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    shown = track(frames, "importing", total, console=console, disable=not console.is_terminal)
    remembered = {name: last.wall_ns for name, (last, _) in ingest.order.released().items()}
    taken = known = since_checkpoint = 0
    while batch := list(islice(iter(shown), _AT_ONCE)):
        fresh = []
        for frame in batch:
            if not ingest.store.has_frame(*frame.key):
                fresh.append(frame)
                continue
            known += 1
            if frame.origin.wall_ns > remembered.get(frame.origin.server, 0):
                ingest.replay(frame)
        ingest.take(fresh)
        taken += len(fresh)
        since_checkpoint += len(fresh)
        if since_checkpoint >= _CHECKPOINT_EVERY:
            ingest.checkpoint()
            since_checkpoint = 0
    ingest.checkpoint()
    return taken, known


def _dumps_by_time(source: Path) -> list[Dump]:
    if not source.is_dir():
        raise InputError(f"{source} is not a directory")
    dumps = find_dumps(str(source))
    if not dumps:
        raise InputError(f"{source} holds no dumps: SERVER/YYYYmmddTHHMMSSZ.txt, .txt.gz, .txt.zst")
    return sorted(dumps, key=lambda dump: (dump.time_s, dump.server))


def _dump_frame(dump: Dump) -> TextFrame:
    origin = Origin(dump.server, DUMP_EPOCH, dump.time_s, dump.time_s * 10**9)
    return TextFrame(origin, (Section("lctl", b"".join(read_chunks(dump.path))),))


def _frames_by_time(paths: list[str]) -> Iterator[Frame]:
    """Merge logs by time; each directory is one log."""
    logs = [list(files) for _, files in groupby(paths, key=lambda path: str(Path(path).parent))]
    merged = heapq.merge(*map(_timed_frames, logs), key=lambda timed: timed[0])
    return (frame for _, frame in merged)


def _timed_frames(files: list[str]) -> Iterator[tuple[int, Frame]]:
    """Yield the frames of one log with their times, steps of the clock taken out."""
    clocks: defaultdict[str, ServerClock] = defaultdict(ServerClock)
    for file in files:
        for frame in iter_frames(file, _tell):
            yield clocks[frame.origin.server].tick(frame.origin).time_us, frame


def _tell(path: str, damage: Damage) -> None:
    print(f"{path}: offset {damage.offset}: {damage.reason}", file=sys.stderr)
