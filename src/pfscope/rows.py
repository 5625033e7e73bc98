"""Rows as CSV and as JSON, in one way everywhere: whoever prints them, a command or a server.

Rows come as batches of columns, so that a stream of any length takes bounded memory. Numbers are
written in full, what is not known is empty or null, and no spreadsheet takes a text for a formula.
"""

import csv
import json
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from pfscope.untrusted import csv_cell

Batch = Sequence[Sequence[Any]]
"""One sequence for each column, all of one length."""


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


def write_csv(columns: Sequence[str], batches: Iterable[Batch], out: TextIO) -> None:
    """Write a header and all rows."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for batch in batches:
        writer.writerows(zip(*[[_csv_value(v) for v in column] for column in batch], strict=True))


def write_json(columns: Sequence[str], batches: Iterable[Batch], out: TextIO) -> None:
    """Write an array of objects, one to a line."""
    separator = "[\n"
    for batch in batches:
        for row in zip(*batch, strict=True):
            out.write(separator + _json_object(columns, row))
            separator = ",\n"
    out.write("[]\n" if separator == "[\n" else "\n]\n")


def shown(value: Any) -> str:
    """Return a value as text."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _csv_value(value: Any) -> Any:
    return csv_cell(value) if isinstance(value, str) else shown(value)


def _json_object(columns: Sequence[str], row: Sequence[Any]) -> str:
    cells = (
        f"{json.dumps(name)}: {v.text if isinstance(v, Number) else json.dumps(v)}"
        for name, v in zip(columns, row, strict=True)
    )
    return "{" + ", ".join(cells) + "}"
