"""`pfscope serve user`: who may sign in, and as what."""

import argparse
import sys
from pathlib import Path

from pfscope.errors import UsageError
from pfscope.server.tokens import ROLES, TokenFile

EXAMPLES = """examples:
  pfscope serve user add anna --data DIR
  pfscope serve user add ben --role staff --data DIR
  pfscope serve user add 20041 --user 1001 --data DIR
  pfscope serve user revoke anna --data DIR

A user sees the own work by name and all others under pseudonyms; staff see whom [privacy] lets them
see; an admin sees everybody.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the commands."""
    parser.epilog = EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="action", metavar="COMMAND", required=True)
    add = commands.add_parser("add", help="make a token for somebody and show it, this once")
    add.add_argument("name", metavar="NAME", help="the account's name")
    add.add_argument(
        "--role", choices=ROLES[1:], default="user", help="what it may see (default: user)"
    )
    add.add_argument(
        "--user", action="append", default=[], metavar="USER", dest="users",
        help="whom of the file system's users it is, by uid or name (default: NAME and its uid)",
    )  # fmt: skip
    listing = commands.add_parser("list", help="list who may sign in")
    revoke = commands.add_parser("revoke", help="sign somebody out, for good")
    revoke.add_argument("name", metavar="NAME")
    for command in (add, listing, revoke):
        command.add_argument(
            "--data", type=Path, metavar="DIR", required=True, help="the data directory"
        )


def run(args: argparse.Namespace) -> int:
    """Change who may sign in, or tell who may."""
    file = TokenFile(args.data)
    if args.action == "add":
        if args.name.isdecimal() and args.role == "user" and not args.users:
            raise UsageError(f"{args.name} could be a uid or a name: say --user UID, too")
        print(file.add(args.name, role=args.role, users=tuple(args.users)))
        print("this is shown once: it is what signs in", file=sys.stderr)
    elif args.action == "revoke":
        file.revoke(args.name, person=True)
    else:
        for token in file.holders(people=True):
            print(token.name, token.created, token.role, *token.users)
    return 0
