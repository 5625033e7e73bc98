"""Asks the questions of threshold rules, and says of which rows their condition holds.

Data that is too old, or a question that cannot be answered, is missing: neither above nor below.
A row that is not in an answer any more is quiet.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pfscope.errors import PfscopeError
from pfscope.query.data import Data
from pfscope.query.results import Result
from pfscope.watch.alerts.model import Labels, Observation, Seen
from pfscope.watch.alerts.rules import Rule, Threshold


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of one question."""

    observations: list[Observation]
    trouble: str = ""
    """Why there was no answer, or none that is new."""


def ask(rule: Rule, data: Data, now_us: int) -> Asked:
    """Ask a rule's question."""
    assert isinstance(rule.on, Threshold)
    try:
        result = data.ask(rule.on.question, **{k: list(v) for k, v in rule.on.words.items()})
        age_us = now_us - int(result.about["to_us"])
        if age_us > rule.on.stale_us:
            return _missing(rule, f"the newest data is {age_us // 1_000_000} s old")
        return Asked(_observed(rule, rule.on, result))
    except PfscopeError as error:
        return _missing(rule, str(error))


def _missing(rule: Rule, why: str) -> Asked:
    return Asked([Observation(rule.name, None, Seen.MISSING)], why)


def _observed(rule: Rule, on: Threshold, result: Result) -> list[Observation]:
    if len(result) and on.column not in result.table.column_names:
        known = ", ".join(result.table.column_names)
        raise PfscopeError(f"the answer has no column {on.column!r}; it has {known}")
    found = [Observation(rule.name, None, Seen.QUIET)]
    for row in _newest(result.to_pylist()):
        value = row[on.column]
        if isinstance(value, int | float) and on.is_beyond(value):
            found.append(_active(rule, on, row, float(value), result.about.get("unit")))
    return found


def _newest(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows of the last step, of an answer over time; else all."""
    those = list(rows)
    last = max((row["time"] for row in those if "time" in row), default=None)
    return those if last is None else [row for row in those if row["time"] == last]


def _active(
    rule: Rule, on: Threshold, row: Mapping[str, Any], value: float, unit: Any
) -> Observation:
    keys = {key: str(row[key]) for key in on.by if row.get(key) is not None}
    labels: Labels = {
        "severity": ("warning",),
        **{key: (text,) for key, text in keys.items()},
        **{key: (text,) for key, text in rule.labels.items()},
        "rule": (rule.name,),
    }
    facts = {
        "query": on.query, "column": on.column, "value": value, "unit": unit,
        "above": on.above, "below": on.below, "keys": keys,
    }  # fmt: skip
    instance = json.dumps([row.get(key) for key in on.by], default=str)
    return Observation(rule.name, instance, Seen.ACTIVE, labels, {"threshold": facts})
