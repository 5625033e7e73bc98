"""`pfscope doctor`: is a data directory or a server sound, and if not, what is wrong."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pfscope.cli.output import add_format, print_rows
from pfscope.cli.source import add_data, connection
from pfscope.frames import Damage, Found, FrameError, frame_files, scan

if TYPE_CHECKING:
    from pfscope.store.check import Finding

JOURNAL = "journal"
EXAMPLES = """examples:
  pfscope doctor --data /var/lib/pfscope
  pfscope doctor --data DATA --format json
  pfscope doctor --server http://127.0.0.1:8470

Exit code 0: healthy; 1: something is wrong. Stop the server that holds a directory first; while it
runs, --server says how it fares.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EXAMPLES
    add_data(parser)
    add_format(parser)


def run(args: argparse.Namespace) -> int:
    """Print every finding."""
    sound = True

    def rows() -> Iterator[tuple[list[str], list[str], list[str]]]:
        nonlocal sound
        for finding in _asked(args):
            sound = sound and finding.healthy
            yield [finding.check], ["ok" if finding.healthy else "WRONG"], [finding.text]

    print_rows(("check", "state", "finding"), rows(), args.format)
    return 0 if sound else 1


def _asked(args: argparse.Namespace) -> "Iterator[Finding]":
    if not args.server:
        return _findings(args.data)
    from pfscope.cli.doctor_server import findings

    return findings(connection(args))


def _findings(directory: Path) -> "Iterator[Finding]":
    from pfscope.store.check import Finding, examine
    from pfscope.store.embedded import open_store

    with open_store(directory, create=False) as store:
        yield Finding("lock", True, "no other process has the directory")
        yield _journal(directory / JOURNAL)
        yield from examine(store)


def _journal(directory: Path) -> "Finding":
    """Read every frame that is not deleted yet."""
    from pfscope.store.check import Finding

    if not directory.is_dir():
        return Finding("journal", True, "there is none")
    whole, damaged = 0, []
    for name in frame_files(str(directory)):
        with Path(name).open("rb") as file:
            for item in scan(file):
                if reason := _damage(item):
                    damaged.append(f"{Path(name).name} at offset {item.offset}: {reason}")
                else:
                    whole += 1
    text = f"{whole} frames are whole"
    if damaged:
        text += f", {len(damaged)} damaged: {'; '.join(damaged[:3])}"
    return Finding("journal", not damaged, text)


def _damage(item: Found | Damage) -> str:
    if isinstance(item, Damage):
        return item.reason
    try:
        item.frame.verify()
    except FrameError as error:
        return str(error)
    return ""
