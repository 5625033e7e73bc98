"""`pfscope frames ls|cat|verify|import-dumps`: what frame logs hold, for people and for pipes."""

import argparse
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from pfscope.cli.output import Batch, add_format, print_rows
from pfscope.errors import InputError
from pfscope.frames import Damage, Found, FrameError, FramesError, frame_files, scan_file
from pfscope.frames.dumps import OPENERS, find_dumps, import_dumps
from pfscope.untrusted import ascii_text

COLUMNS = ("offset", "server", "epoch", "sequence", "time", "sections", "raw_bytes", "stored_bytes")
EXAMPLES = """examples:
  pfscope frames ls /var/lib/pfscope-agent/spool
  pfscope frames cat SPOOL --server oss1 | pfscope parse -
  pfscope frames verify ARCHIVE
  pfscope frames import-dumps DUMPS ARCHIVE

PATH is a segment file (.pfl), a log's directory, or a directory of logs.
"""
_ROWS_AT_ONCE = 256
Command = Callable[[argparse.Namespace], int]


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the four commands."""
    parser.epilog = EXAMPLES
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add(commands, "ls", "list frames, one row each", _ls)
    _add(commands, "cat", "print the texts in frames as lctl prints them", _cat)
    _add(commands, "verify", "say what is whole and what is damaged; exit 1 on damage", _verify)
    dumps = commands.add_parser("import-dumps", help="make frame logs of DIR/SERVER/TIME.txt files")
    dumps.add_argument("source", metavar="DIR", type=Path, help="the tree of dumps")
    dumps.add_argument("out", metavar="OUT", type=Path, help="where OUT/SERVER logs are made")
    dumps.set_defaults(command_run=_import)


def run(args: argparse.Namespace) -> int:
    """Run one of them."""
    try:
        code: int = args.command_run(args)
    except FramesError as error:
        raise InputError(str(error)) from None
    except (FileNotFoundError, NotADirectoryError, PermissionError, IsADirectoryError) as error:
        raise InputError(f"{error.filename}: {error.strerror}") from None
    return code


def _add(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    summary: str,
    command: Command,
) -> None:
    parser = commands.add_parser(name, help=summary, description=f"{summary}.")
    parser.add_argument("paths", metavar="PATH", nargs="+", help="segment, log or tree")
    if name == "ls":
        add_format(parser)
    if name == "cat":
        parser.add_argument("--server", help="frames of this server only")
        parser.add_argument("--sequence", type=int, help="the frame with this number only")
    parser.set_defaults(command_run=command)


def _ls(args: argparse.Namespace) -> int:
    print_rows(COLUMNS, _batches(_frames(args.paths)), args.format)
    return 0


def _batches(found: Iterator[Found]) -> Iterator[Batch]:
    rows = map(_row, found)
    while batch := list(islice(rows, _ROWS_AT_ONCE)):
        yield tuple(zip(*batch, strict=True))


def _row(found: Found) -> tuple[object, ...]:
    frame, origin = found.frame, found.frame.origin
    return (
        found.offset,
        _shown(origin.server),
        _shown(origin.epoch),
        origin.sequence,
        _iso(origin.wall_ns),
        len(frame.contents),
        frame.raw_bytes,
        found.length,
    )


def _cat(args: argparse.Namespace) -> int:
    for found in _frames(args.paths):
        origin = found.frame.origin
        wanted_server = args.server in (None, origin.server)
        if wanted_server and args.sequence in (None, origin.sequence):
            for section in found.frame.sections():
                sys.stdout.buffer.write(section.lctl_form())
    sys.stdout.buffer.flush()
    return 0


def _verify(args: argparse.Namespace) -> int:
    damaged = 0
    for path in _files(args.paths):
        whole = 0
        for item in _checked(path):
            if isinstance(item, Damage):
                damaged += 1
                print(_told(path, item))
            else:
                whole += 1
        print(f"{path}: {whole} whole frame{'s' * (whole != 1)}")
    print("no damage" if not damaged else f"damaged in {damaged} place{'s' * (damaged != 1)}")
    return 1 if damaged else 0


def _checked(path: str) -> Iterator[Found | Damage]:
    for item in scan_file(path):
        try:
            if isinstance(item, Found):
                item.frame.verify()
            yield item
        except FrameError as error:
            yield Damage(item.offset, item.length, str(error))


def _import(args: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.progress import track

    dumps = find_dumps(str(args.source))
    if not dumps:
        raise InputError(f"{args.source}: no dumps here (SERVER/YYYYmmddTHHMMSSZ.txt)")
    openers = {**OPENERS, ".txt.zst": _open_zstd}
    console = Console(stderr=True)
    failed = 0
    for outcome in track(
        import_dumps(dumps, str(args.out), openers),
        "importing",
        total=len(dumps),
        console=console,
        disable=not console.is_terminal,
    ):
        if outcome.reason:
            failed += 1
            print(f"pfscope: {outcome.dump.path}: {outcome.reason}", file=sys.stderr)
    print(f"{len(dumps) - failed} of {len(dumps)} dumps are in {args.out}")
    return 1 if failed else 0


def _open_zstd(path: str) -> BinaryIO:
    import pyarrow

    stream: BinaryIO = pyarrow.CompressedInputStream(pyarrow.OSFile(path), "zstd")
    return stream


def _frames(paths: list[str]) -> Iterator[Found]:
    """Yield whole frames; damage is told on standard error and passed by."""
    for path in _files(paths):
        for item in scan_file(path):
            if isinstance(item, Found):
                yield item
            else:
                print(f"pfscope: {_told(path, item)}", file=sys.stderr)


def _files(paths: list[str]) -> Iterator[str]:
    for path in paths:
        yield from frame_files(path)


def _told(path: str, damage: Damage) -> str:
    return f"{path}: {damage.length} bytes at offset {damage.offset}: {damage.reason}"


def _shown(text: str) -> str:
    return ascii_text(text.encode("utf-8", "surrogatepass"))


def _iso(wall_ns: int) -> str:
    seconds, rest_ns = divmod(wall_ns, 10**9)
    try:
        moment = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return f"{wall_ns} ns"
    return f"{moment}.{rest_ns // 10**6:03d}Z"
