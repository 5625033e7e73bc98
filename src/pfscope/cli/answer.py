"""An answer as a command prints it: rows to the output, and for people what is to be told besides.

Notes and reasons go to standard error, so that what is piped holds rows alone.
"""

import sys
from collections.abc import Mapping
from typing import Any, Final, TextIO

from pfscope.cli.figures import cells_of, column_of
from pfscope.cli.output import print_rows
from pfscope.cli.table import print_table
from pfscope.query.results import Result
from pfscope.query.written import as_parquet, cells
from pfscope.times import iso
from pfscope.untrusted import printable

_ASKED: Final = frozenset({"from_us", "to_us", "unit", "by", "empty"})
"""What is not told as a note of its own."""


def write_answer(result: Result, style: str, out: TextIO) -> None:
    """Write the answer as a table, CSV, JSON or Parquet."""
    if style == "parquet":
        out.flush()
        out.buffer.write(as_parquet(result))
    elif style == "table":
        _write_table(result, out)
    else:
        batches = cells(result.table)
        if out.isatty():
            batches = ([[harmless(v) for v in column] for column in batch] for batch in batches)
        print_rows(result.table.column_names, batches, style, out)


def harmless(value: Any) -> Any:
    """Return a value that can be shown on a terminal."""
    return printable(value) if isinstance(value, str) else value


def _write_table(result: Result, out: TextIO) -> None:
    names, unit = result.table.column_names, result.about.get("unit")
    rows = [row for batch in cells(result.table) for row in zip(*batch, strict=True)]
    if rows:
        columns = zip(names, zip(*rows, strict=True), strict=True)
        heads = [column_of(name, values) for name, values in columns]
        print_table(heads, [cells_of(names, row, unit) for row in rows], out)
    out.flush()
    for line in told(result):
        print(printable(line), file=sys.stderr)


def told(result: Result) -> list[str]:
    """Return what to tell beside the rows, in sentences."""
    about = result.about
    notes = [f"{_period(about)}{_unit(about)}"] if len(result) else []
    if reason := about.get("empty"):
        notes.append(f"nothing to show: {reason}")
    for name, value in about.items():
        if name not in _ASKED:
            notes += _sentences(name, value)
    return notes


def _period(about: Mapping[str, Any]) -> str:
    if "from_us" not in about or "to_us" not in about:
        return ""
    return f"{iso(about['from_us'])} to {iso(about['to_us'])}"


def _unit(about: Mapping[str, Any]) -> str:
    return f", {about['unit']}" if about.get("unit") else ""


def _sentences(name: str, value: Any) -> list[str]:
    """Return a note; one that is text speaks for itself, a number needs its name."""
    if value is None or value in ("", [], {}):
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple):  # rows of their own are for programs
        return [item for item in value if isinstance(item, str)]
    if isinstance(value, Mapping):
        parts = ", ".join(f"{key}: {_short(part)}" for key, part in value.items())
        return [f"{name.replace('_', ' ')}: {parts}"]
    if name.endswith("_us"):
        return [f"{name.removesuffix('_us').replace('_', ' ')}: {iso(value)}"]
    return [f"{name.replace('_', ' ')}: {_short(value)}"]


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"({', '.join(f'{key} {_short(part)}' for key, part in value.items())})"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
