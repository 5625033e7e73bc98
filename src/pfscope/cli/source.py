"""`--data DIR | --server URL`: where a command finds its data, and with which token it asks."""

import argparse
import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pfscope.errors import UsageError

if TYPE_CHECKING:
    from pfscope.query.data import Source
    from pfscope.remote import Connection


USUAL_SERVER: Final = "http://127.0.0.1:8470"
"""Where `pfscope serve` listens if nothing else is said."""


def add_data(
    parser: argparse.ArgumentParser, *, required: bool = True, usual: str | None = None
) -> None:
    """Add `--data` and `--server`, and what it takes to reach a server.

    There must be one of the two, unless neither is required; `usual` is what is then meant.
    """
    where = parser.add_mutually_exclusive_group(required=required and not usual)
    where.add_argument("--data", type=Path, metavar="DIR", help="the data directory")
    default = f" (default: {usual})" if usual else ""
    where.add_argument(
        "--server",
        metavar="URL",
        help=f"the server that holds the data: http(s)://… or unix:///path{default}",
    )
    parser.add_argument(
        "--token-file", type=Path, metavar="FILE",
        help="holds the token for --server; ours alone, mode 0600 (default: $PFSCOPE_TOKEN)",
    )  # fmt: skip
    parser.add_argument(
        "--ca-file", type=Path, metavar="FILE",
        help="certificates to trust instead of the system's, for --server",
    )  # fmt: skip


def connection(args: argparse.Namespace) -> "Connection":
    """Return the way to the server that was named."""
    from pfscope.remote import Connection

    return Connection(args.server, args.token_file, args.ca_file)


def source_of(args: argparse.Namespace) -> "Source":
    """Return what answers questions: the store or the server."""
    if not args.server:
        from pfscope.opening import open_local

        return open_local(args.data, args.config)
    if args.config:
        raise UsageError("--config goes with --data: a server has its own configuration")
    from pfscope.remote import RemoteSource

    return RemoteSource(connection(args))


def whoever() -> str:
    """Return the name of whoever runs the command."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        raise UsageError("nobody knows who you are: use --author NAME") from None
