"""`--user PATTERN`, `--target PATTERN`, …: whom a table is about, the same for every command."""

import argparse
from typing import Final

from pfscope.query.key_names import KEYS

FLAGS: Final = {"server": "--lustre-server"}
"""How a key is called where another option has its name."""
FILTERS: Final = tuple(key for key in KEYS if key != "operation")


def add_filters(parser: argparse._ActionsContainer) -> None:
    """Add an option for each key; it may be repeated."""
    for key in FILTERS:
        parser.add_argument(
            FLAGS.get(key, f"--{key}"), dest=f"word_{key}", action="append", default=[],
            metavar="PATTERN", help=f"only this {key}",
        )  # fmt: skip


def filters(args: argparse.Namespace) -> dict[str, list[str]]:
    """Return the patterns that were given, by key."""
    given = {key: getattr(args, f"word_{key}") for key in FILTERS}
    return {key: patterns for key, patterns in given.items() if patterns}
