"""`pfscope alert`: which alerts there are, silences for a while, and whether messages arrive."""

import argparse
import json
import sys
import time
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pfscope.cli.output import add_format, print_rows
from pfscope.cli.source import add_data, connection, whoever
from pfscope.config import add_config, load_config
from pfscope.errors import InputError, UsageError
from pfscope.times import duration_us, iso, time_us
from pfscope.untrusted import printable
from pfscope.watch.alerts.listing import COLUMNS, FOLDER

if TYPE_CHECKING:
    from pfscope.watch.alerts.silences import Silence, SilenceFile

EXAMPLES = """examples:
  pfscope alert list --data /var/lib/pfscope
  pfscope alert list --server http://127.0.0.1:8470 --format json
  pfscope alert silence add 'target=scratch-OST0003' --for 2h --comment 'disks are replaced' --data DIR
  pfscope alert silence list --data DIR
  pfscope alert silence expire 1f0c22ab --data DIR
  pfscope alert test ops-mail --config /etc/pfscope/pfscope.toml
"""  # noqa: E501 - a command is one line
ENDED = "resolved"
SILENCES = ("id", "state", "start", "end", "author", "comment", "matchers")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the commands."""
    parser.epilog = EXAMPLES
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    listing = commands.add_parser("list", help="which alerts there are, and who is not told why")
    add_data(listing)
    add_format(listing)
    listing.add_argument("--all", action="store_true", help="those that ended lately, too")
    _add_silences(commands.add_parser("silence", help="silence add|list|expire"))
    test = commands.add_parser("test", help="send a marked test message")
    test.add_argument("name", metavar="NAME", help="of a [notify.NAME] in the configuration")
    add_config(test)


def _add_silences(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="action", metavar="COMMAND", required=True)
    add = commands.add_parser("add", help="tell nobody of alerts that fit, for a while")
    add.add_argument(
        "matchers", nargs="+", metavar="LABEL=GLOB",
        help="what an alert's label must be; all must fit, of several for one label any",
    )  # fmt: skip
    end = add.add_mutually_exclusive_group(required=True)
    end.add_argument("--for", dest="length", metavar="TIME", help="for so long: 90m, 2h, 3d")
    end.add_argument("--until", metavar="TIME", help="until then (ISO 8601, UTC)")
    add.add_argument("--from", dest="start", metavar="TIME", help="from then on (default: now)")
    add.add_argument("--comment", required=True, metavar="TEXT", help="why")
    add.add_argument("--author", metavar="NAME", help="who (default: whoever runs this)")
    listing = commands.add_parser("list", help="list silences, those that ended lately too")
    add_format(listing)
    expire = commands.add_parser("expire", help="end a silence now")
    expire.add_argument("id", metavar="ID")
    for command in (add, listing, expire):
        command.add_argument(
            "--data", type=Path, metavar="DIR", required=True, help="the data directory"
        )


def run(args: argparse.Namespace) -> int:
    """List, silence or test."""
    if args.command == "list":
        return _list(args)
    return _silence(args) if args.command == "silence" else _test(args)


def _now_us() -> int:
    return time.time_ns() // 1000


def _list(args: argparse.Namespace) -> int:
    told = _overview(args)
    rows = [row for row in told["alerts"] if args.all or row["state"] != ENDED]
    print_rows(COLUMNS, [[[row[name] for row in rows] for name in COLUMNS]], args.format)
    sys.stdout.flush()
    if told["waiting"]:
        print(f"{told['waiting']} notifications wait to be sent", file=sys.stderr)
    for part, why in told["trouble"].items():
        print(printable(f"{part}: {why}"), file=sys.stderr)
    return 0


def _overview(args: argparse.Namespace) -> dict[str, Any]:
    if not args.server:
        from pfscope.watch.alerts.listing import overview

        return overview(args.data)
    try:
        told: dict[str, Any] = json.loads(connection(args).get("/api/v1/alerts"))
        if all(set(COLUMNS) <= set(row) for row in told["alerts"]):
            return {"alerts": told["alerts"], "waiting": int(told["waiting"]),
                    "trouble": dict(told["trouble"])}  # fmt: skip
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise InputError(f"{args.server} does not answer as pfscope does")


def _silence(args: argparse.Namespace) -> int:
    from pfscope.watch.alerts.silences import SilenceFile

    if not args.data.is_dir():
        raise InputError(f"there is no data directory {args.data}")
    file = SilenceFile(args.data / FOLDER)
    if args.action == "list":
        return _list_silences(file, args.format)
    try:
        if args.action == "add":
            return _add(file, args)
        file.expire(args.id, _now_us())
    except OSError as error:
        raise InputError(f"cannot write {file.path}: {error.strerror}") from error
    return 0


def _add(file: "SilenceFile", args: argparse.Namespace) -> int:
    """Make a silence and print its id."""
    from pfscope.watch.alerts.silences import read_matchers

    now_us = _now_us()
    start_us = time_us(args.start, now_us=now_us) if args.start else now_us
    until_us = (
        time_us(args.until, now_us=now_us, end=True)
        if args.until
        else start_us + duration_us(args.length)
    )
    made = file.add(
        read_matchers(args.matchers), author=args.author or whoever(), comment=args.comment,
        start_us=start_us, end_us=until_us,
    )  # fmt: skip
    print(made.id)
    print(f"silenced until {iso(made.end_us)}", file=sys.stderr)
    return 0


def _list_silences(file: "SilenceFile", style: str) -> int:
    now_us = _now_us()
    rows = [_silence_row(silence, now_us) for silence in file.read()]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in SILENCES]
    print_rows(SILENCES, [columns], style)
    return 0


def _silence_row(silence: "Silence", now_us: int) -> tuple[str, ...]:
    state = "active" if silence.is_active(now_us) else "to come"
    if silence.end_us <= now_us:
        state = "ended"
    matchers = (f"{label}={glob}" for label, globs in silence.matchers.items() for glob in globs)
    times = iso(silence.start_us), iso(silence.end_us)
    return silence.id, state, *times, silence.author, silence.comment, " ".join(matchers)


def _test(args: argparse.Namespace) -> int:
    from pfscope.watch.alerts.trial import try_channel

    channels = load_config(args.config).alerts.channels
    if args.name not in channels:
        near = get_close_matches(args.name, channels, 1)
        known = ", ".join(channels) or "none"
        hint = f"did you mean {near[0]!r}?" if near else f"there are {known}"
        raise UsageError(f"there is no [notify.{args.name}] in the configuration; {hint}")
    arrived, said = try_channel(channels[args.name], _now_us())
    if not arrived:
        raise InputError(f"notify {args.name}: {said}")
    print(printable(f"notify {args.name}: {said}"))
    return 0
