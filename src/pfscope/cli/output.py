"""`--format table|csv|json`: the one way in which commands print rows to standard output.

Rows come as batches of columns, so that a stream of any length is printed in bounded memory.
Tables are for people (aligned, cut to the terminal); CSV and JSON are contracts.
"""

import argparse
import csv
import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from pfscope.untrusted import csv_cell

Batch = Sequence[Sequence[Any]]
"""One sequence for each column, all of one length."""


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add `--format` to a command that prints rows."""
    parser.add_argument(
        "--format",
        choices=("table", "csv", "json"),
        default="table" if sys.stdout.isatty() else "csv",
        help="how to print (default: a table on a terminal, else CSV)",
    )


def print_rows(
    columns: Sequence[str], batches: Iterable[Batch], style: str, out: TextIO | None = None
) -> None:
    """Print batches of columns as a table, as CSV or as JSON."""
    {"table": _print_table, "csv": _print_csv, "json": _print_json}[style](
        columns, batches, out or sys.stdout
    )


def _print_csv(columns: Sequence[str], batches: Iterable[Batch], out: TextIO) -> None:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for batch in batches:
        writer.writerows(zip(*[[_csv_value(v) for v in column] for column in batch], strict=True))


def _csv_value(value: Any) -> Any:
    return csv_cell(value) if isinstance(value, str) else _shown(value)


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


class Number(float):
    """A number whose exact decimal text matters; JSON and CSV print that text."""

    def __new__(cls, text: str) -> "Number":
        """Keep the text beside the value."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str

    def __repr__(self) -> str:
        return self.text

    __str__ = __repr__


def _print_json(columns: Sequence[str], batches: Iterable[Batch], out: TextIO) -> None:
    separator = "[\n"
    for batch in batches:
        for row in zip(*batch, strict=True):
            out.write(separator + _json_object(columns, row))
            separator = ",\n"
    out.write("[]\n" if separator == "[\n" else "\n]\n")


def _json_object(columns: Sequence[str], row: Sequence[Any]) -> str:
    cells = (
        f"{json.dumps(name)}: {v.text if isinstance(v, Number) else json.dumps(v)}"
        for name, v in zip(columns, row, strict=True)
    )
    return "{" + ", ".join(cells) + "}"


def _print_table(columns: Sequence[str], batches: Iterable[Batch], out: TextIO) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    rows = [row for batch in batches for row in zip(*batch, strict=True)]
    for index, name in enumerate(columns):
        numeric = any(isinstance(r[index], int | float) for r in rows[:100])
        table.add_column(name, justify="right" if numeric else "left", no_wrap=True)
    for row in rows:
        table.add_row(*[Text(_shown(v)) for v in row])
    width = None if out.isatty() else 1000
    Console(file=out, highlight=False, width=width).print(table)
