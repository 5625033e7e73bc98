"""`pfscope incidents`: what changed on the file systems, who caused it and what to do.

From a data directory the past is gone through anew; a server tells what it saw as it happened.
With an id, everything that is known of one incident.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from pfscope.cli.incident_page import care, incident_text, who_first
from pfscope.cli.output import add_format, print_rows
from pfscope.cli.source import add_data, source_of, whoever
from pfscope.config import add_config
from pfscope.errors import UsageError
from pfscope.figures import abbreviated
from pfscope.query.results import Result
from pfscope.times import iso
from pfscope.watch.source import WatchedSource
from pfscope.watch.wanted import WORDS
from pfscope.watch.written import COLUMNS, as_rows

EXAMPLES = """examples:
  pfscope incidents --data DIR --from 2022-10-27 --to 2022-10-28
  pfscope incidents --server http://127.0.0.1:8470 --severity critical
  pfscope incidents --data DIR --from -7d --user 1001 --format json
  pfscope incidents 20221027T0830-1f0c22 --data DIR
  pfscope incidents 20221027T0830-1f0c22 --server URL --acknowledge 'I call the user'

Times are ISO 8601, in UTC unless they say otherwise, or before the newest observation (-2h).
"""
_SHORT: Final = ("id", "start", "end", "state", "severity", "kind", "where", "what", "ratio", "who")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EXAMPLES
    parser.add_argument("id", nargs="?", metavar="ID", help="all about this incident")
    parser.add_argument(
        "--acknowledge", metavar="COMMENT", help="say that you take care of it, to the --server"
    )
    parser.add_argument("--author", metavar="NAME", help="who (default: whoever runs this)")
    add_data(parser)
    add_config(parser)
    add_format(parser)
    for name, meaning in WORDS.items():
        parser.add_argument(
            f"--{name}", dest=f"word_{name}", action="append", default=[],
            metavar="TIME" if name in ("from", "to") else name.upper(), help=meaning,
        )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Print incidents, or one of them."""
    words = {key[5:]: value for key, value in vars(args).items() if key.startswith("word_")}
    if args.acknowledge is not None:
        return _acknowledge(args)
    source = source_of(args)
    try:
        with _progress() as hear:
            if isinstance(source, WatchedSource):
                source.progress = hear
            if args.id:
                told = source.incident(args.id)
            else:
                result = source.incidents(words)
    finally:
        source.close()
    if args.id:
        _print_one(told, args.format)
    else:
        _print_all(result, args.format)
    return 0


def _acknowledge(args: argparse.Namespace) -> int:
    """Tell the server who takes care."""
    from pfscope.remote import RemoteSource

    source = source_of(args)
    if not args.id or not isinstance(source, RemoteSource):
        source.close()
        raise UsageError("--acknowledge takes an incident's ID, and the --server that watches")
    told = source.acknowledge(args.id, args.author or whoever(), args.acknowledge)
    print(f"{told['id']}: {care(told)}", file=sys.stderr)
    return 0


@contextmanager
def _progress() -> Iterator[Any]:
    """Show how far it has come where somebody looks on."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("watching", total=1.0)
        yield lambda part: bar.update(task, completed=part)


def _print_one(told: Mapping[str, Any], style: str) -> None:
    if style == "json":
        print(json.dumps(told))
    elif style == "csv":
        _print_rows(COLUMNS, [{key: told[key] for key in COLUMNS}], style)
    else:
        sys.stdout.write(incident_text(told))


def _print_all(result: Result, style: str) -> None:
    rows = as_rows(result)
    if style != "table":
        _print_rows(COLUMNS, rows, style)
    else:
        _print_rows(_SHORT, [_shortened(row) for row in rows], style)
        sys.stdout.flush()
        period = f"{iso(result.about['from_us'])} to {iso(result.about['to_us'])}"
        many = f"{len(rows)} incidents" if len(rows) != 1 else "1 incident"
        print(f"{many}, {period}", file=sys.stderr)


def _print_rows(columns: Sequence[str], rows: Sequence[Mapping[str, Any]], style: str) -> None:
    values = [[_cell(row[name], style) for row in rows] for name in columns]
    print_rows(columns, [values], style)


def _cell(value: Any, style: str) -> Any:
    """Return a value as a cell; lists and objects are JSON in CSV, lists of names are joined."""
    if style == "csv" and isinstance(value, list) and all(isinstance(v, str) for v in value):
        return ";".join(value)
    return json.dumps(value) if style == "csv" and isinstance(value, list | dict) else value


def _shortened(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as people read it."""
    ratio = row["ratio"]
    return {
        **row,
        "end": row["end"] or "–",
        "where": _names(row["targets"]) or row["filesystem"],
        "what": _names(row["operations"]),
        "ratio": "–" if ratio is None else f"{abbreviated(ratio)} ×",
        "who": who_first(row),
    }


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:2]) + (f" +{len(names) - 2}" if len(names) > 2 else "")
