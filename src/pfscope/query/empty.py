"""Why an answer has no rows, in a sentence: no data then, nobody of that name, or nothing done."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

import ibis
import ibis.expr.types as ir

from pfscope.query.asked import Asked
from pfscope.query.keys import matches, who
from pfscope.query.tables import table
from pfscope.times import iso

_COMPARED: Final = 5000
"""A misspelt name is compared with no more."""


def why_empty(asked: Asked) -> str:
    """Return the reason as far as it can be told."""
    window, first_us, last_us = asked.window, asked.catalog.first_us, asked.catalog.last_us
    assert first_us is not None  # else there was no window
    assert last_us is not None
    if window.start_us >= last_us or window.end_us <= first_us:
        return f"there is data from {iso(first_us)} to {iso(last_us)} only"
    for key, patterns in asked.request.where:
        if reason := _nobody(asked, key, patterns):
            return reason
    return f"nothing that fits was done from {iso(window.start_us)} to {iso(window.end_us)}"


def _nobody(asked: Asked, key: str, patterns: tuple[str, ...]) -> str:
    """Say that nothing of the store fits the patterns of a key; empty: something does."""
    known = _values(key)
    fitting = known.filter(matches(known.value, patterns)).limit(1)
    if asked.engine.run(fitting).num_rows:
        return ""
    said = f"no {key} fits {_either(patterns)}"
    values = asked.engine.run(known.order_by("value").limit(_COMPARED)).column("value").to_pylist()
    near = get_close_matches(patterns[0], values, 3)
    return f"{said}; did you mean {_either(near)}?" if near else said


def _either(names: Sequence[str]) -> str:
    return " or ".join(f"'{name}'" for name in names)


def _values(key: str) -> ir.Table:
    named = table("quality") if key == "server" else who([key])
    return named.select(value=named[key]).filter(ibis._.value.notnull()).distinct()
