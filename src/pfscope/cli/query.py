"""`pfscope query QUESTION`: every question, as a table, CSV, JSON or Parquet.

The questions, their options and their help are made from the one list of `query.questions`.
"""

import argparse
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn

from pfscope.cli.answer import write_answer
from pfscope.cli.filters import add_filters
from pfscope.cli.output import add_format
from pfscope.cli.source import add_data, source_of
from pfscope.config import add_config
from pfscope.errors import InputError, UsageError
from pfscope.query.keys import KEYS
from pfscope.query.questions import QUESTIONS, Question
from pfscope.query.request import Option

FORMATS = ("table", "csv", "json", "parquet")
TIMES = """\
Times are ISO 8601, in UTC unless they say otherwise, or before the newest observation (-2h);
without any it is the last day. Durations are 90s, 2m, 1h30m. Patterns are globs (r01*), ranges
(1000..1999), or either with ! before it for all others; an option may be repeated.
"""


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line."""
        raise UsageError(f"{message}; see {self.prog} --help")

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse, and name the nearest known option for one that is unknown."""
        known, rest = super().parse_known_args(args, namespace)
        if rest:
            near = get_close_matches(rest[0], self._option_string_actions, 1)
            self.error(f"unknown: {rest[0]}{f', did you mean {near[0]}?' if near else ''}")
        return known, rest


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare every question with its options."""
    examples = "\n".join(f"  pfscope query {q.example} --data DIR" for q in QUESTIONS.values())
    parser.epilog = f"examples:\n{examples}\n\npfscope query QUESTION --help says what it takes."
    questions = parser.add_subparsers(
        dest="question", metavar="QUESTION", required=True, parser_class=_Parser
    )
    for question in QUESTIONS.values():
        _declare(question, questions)


def _declare(question: Question, questions: "argparse._SubParsersAction[_Parser]") -> None:
    columns = question.columns.replace("KEYS", "KEY…")
    parser = questions.add_parser(
        question.name,
        help=_plain(question.summary),
        description=_plain(f"{question.summary[0].upper()}{question.summary[1:]}.\n\n{columns}"),
        epilog=_plain(f"examples:\n  pfscope query {question.example} --data DIR\n\n{TIMES}"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_data(parser)
    add_config(parser)
    add_format(parser, FORMATS)
    parser.add_argument("--output", type=Path, metavar="FILE", help="write here")
    _add_words(parser, question)


def _add_words(parser: argparse.ArgumentParser, question: Question) -> None:
    """Add the options that are the words of the question."""
    usual = ",".join(question.form.by)
    _word(parser, "from", "TIME", "from when")
    _word(parser, "to", "TIME", "until when")
    _word(parser, "step", "TIME", "so long a step; `observed`: whenever a server was observed")
    _word(parser, "by", "KEY[,KEY…]", f"of {', '.join(KEYS)} (default: {usual or 'none'})")
    _word(parser, "operation", "NAME", "an operation or a metric (default: iops)")
    for option in question.form.options:
        _word(parser, option.name, _metavar(option), _help(option))
    add_filters(parser)
    _word(parser, "system", "yes|no", "only system users, or only others")
    _word(parser, "login", "yes|no", "only login nodes, or only others")


def _word(parser: argparse.ArgumentParser, name: str, metavar: str, text: str) -> None:
    """Add an option; that it stands once only is for the question to say."""
    parser.add_argument(
        f"--{name.replace('_', '-')}", dest=f"word_{name}", action="append", default=[],
        metavar=metavar, help=_plain(text),
    )  # fmt: skip


def _metavar(option: Option) -> str:
    if option.choices:
        return "|".join(option.choices)
    return {bool: "yes|no", str: "TEXT"}.get(option.kind, "N")


def _help(option: Option) -> str:
    if option.default in (None, ""):
        return option.help
    default = {True: "yes", False: "no"}.get(option.default, option.default)
    return f"{option.help} (default: {default})"


def _plain(text: str) -> str:
    return text.replace("%", "%%")


def run(args: argparse.Namespace) -> int:
    """Ask, and print the answer."""
    style = _style(args)
    words = {
        name.removeprefix("word_"): values
        for name, values in vars(args).items()
        if name.startswith("word_")
    }
    source = source_of(args)
    try:
        result = source.ask(args.question, words)
    finally:
        source.close()
    if args.output is None:
        write_answer(result, style, sys.stdout)
        return 0
    try:
        with args.output.open("w", encoding="utf-8", newline="") as file:
            write_answer(result, style, file)
    except OSError as error:
        raise InputError(f"cannot write to {args.output}: {error.strerror}") from error
    return 0


def _style(args: argparse.Namespace) -> str:
    style: str = args.format
    if style == "parquet" and args.output is None and sys.stdout.isatty():
        raise UsageError("parquet is not for a terminal: name a file with --output FILE")
    return style
