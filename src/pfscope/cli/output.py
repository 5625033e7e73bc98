"""`--format table|csv|json`: the one way in which commands print rows to standard output.

Tables are for people (aligned, cut to the terminal); CSV and JSON are contracts.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

from pfscope.cli.table import Cell, Column, print_table
from pfscope.rows import Batch, Number, shown, write_csv, write_json

__all__ = ["Batch", "Number", "add_format", "print_rows"]


def add_format(
    parser: argparse.ArgumentParser, choices: Sequence[str] = ("table", "csv", "json")
) -> None:
    """Add `--format` to a command that prints rows."""
    parser.add_argument(
        "--format", choices=choices, default="table" if sys.stdout.isatty() else "csv",
        help="how to print (default: a table on a terminal, else CSV)",
    )  # fmt: skip


def print_rows(
    columns: Sequence[str], batches: Iterable[Batch], style: str, out: TextIO | None = None
) -> None:
    """Print batches of columns as a table, as CSV or as JSON."""
    {"table": _print_table, "csv": write_csv, "json": write_json}[style](
        columns, batches, out or sys.stdout
    )


def _print_table(columns: Sequence[str], batches: Iterable[Batch], out: TextIO) -> None:
    rows = [row for batch in batches for row in zip(*batch, strict=True)]
    heads = [
        Column(name, any(isinstance(row[i], int | float) for row in rows[:100]))
        for i, name in enumerate(columns)
    ]
    print_table(heads, [[Cell(shown(value)) for value in row] for row in rows], out)
