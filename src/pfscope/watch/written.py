"""Incidents as plain JSON and back, and as the rows that people, programs and pages get.

`plain` keeps times as microseconds and loses nothing; `row` has the columns of `pfscope incidents`,
with times in ISO 8601. Names are as their owners wrote them: each medium escapes them.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

import pyarrow as pa

from pfscope.query.results import Result
from pfscope.times import iso
from pfscope.watch.model import Advice, Cause, Incident, Severity, State

COLUMNS: Final = (
    "id", "start", "end", "state", "severity", "filesystem", "targets", "operations", "baseline",
    "peak", "ratio", "causes", "kind", "advice",
)  # fmt: skip
WHO: Final = ("user", "job", "node", "executable")
_TEXT: Final = pa.string()
_TEXTS: Final = pa.list_(_TEXT)
_TIME: Final = pa.timestamp("us", tz="UTC")
_CAUSE: Final = pa.struct(
    [*((key, _TEXT) for key in WHO), ("share", pa.float64()), ("confidence", pa.float64())]
)
_ADVICE: Final = pa.struct(
    [("user", _TEXT), ("admin", _TEXT), ("commands", _TEXTS), ("link", _TEXT)]
)
SCHEMA: Final = pa.schema(
    [
        ("id", _TEXT), ("start", _TIME), ("end", _TIME), ("state", _TEXT), ("severity", _TEXT),
        ("filesystem", _TEXT), ("targets", _TEXTS), ("operations", _TEXTS),
        ("baseline", pa.float64()), ("peak", pa.float64()), ("ratio", pa.float64()),
        ("causes", pa.list_(_CAUSE)), ("kind", _TEXT), ("advice", _ADVICE),
    ]
)  # fmt: skip


def plain(incident: Incident) -> dict[str, Any]:
    """Return an incident as plain JSON, times in microseconds."""
    return {
        "id": incident.id,
        "start_us": incident.start_us,
        "end_us": incident.end_us,
        "state": incident.state.value,
        "severity": incident.severity.value,
        "filesystem": incident.filesystem,
        "targets": list(incident.targets),
        "operations": list(incident.operations),
        "baseline": _finite(incident.baseline),
        "peak": _finite(incident.peak),
        "ratio": _finite(incident.ratio),
        "causes": [_cause(cause) for cause in incident.causes],
        "kind": incident.kind,
        "advice": {
            "user": incident.advice.user,
            "admin": incident.advice.admin,
            "commands": list(incident.advice.commands),
            "link": incident.advice.link,
        },
        "evidence": _by_key(incident.evidence),
    }


def from_plain(told: Mapping[str, Any]) -> Incident:
    """Undo `plain`, but for a ratio that is infinite; nonsense is a KeyError or ValueError."""
    advice = told["advice"]
    return Incident(**{
        **{field: told[field] for field in Incident.__slots__},
        "state": State(told["state"]),
        "severity": Severity(told["severity"]),
        "targets": tuple(told["targets"]),
        "operations": tuple(told["operations"]),
        "ratio": float("inf") if told["ratio"] is None else told["ratio"],
        "causes": tuple(Cause(**cause) for cause in told["causes"]),
        "advice": Advice(**{**advice, "commands": tuple(advice["commands"])}),
        "evidence": tuple(told["evidence"].items()),
    })  # fmt: skip


def row(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `plain` made with times that people read, further fields at the end."""
    start, end = told["start_us"], told["end_us"]
    times = {"start": iso(start), "end": None if end is None else iso(end)}
    whole = {**told, **times}
    further = {key: value for key, value in told.items() if key not in (*COLUMNS, *_MICROS)}
    return {key: whole[key] for key in COLUMNS} | further


_MICROS: Final = ("start_us", "end_us")


def as_result(rows: Iterable[Mapping[str, Any]], about: Mapping[str, Any]) -> Result:
    """Return rows as an answer in Arrow; a row that is none is a ValueError."""
    try:
        told = [{key: each[key] for key in COLUMNS} for each in rows]
        for each in told:
            for key in ("start", "end"):
                each[key] = each[key] and datetime.fromisoformat(each[key])
        return Result("incidents", pa.Table.from_pylist(told, schema=SCHEMA), about)
    except (KeyError, TypeError, pa.ArrowException) as error:
        raise ValueError(f"these are no incidents: {error}") from error


def as_rows(result: Result) -> list[dict[str, Any]]:
    """Undo `as_result`, but for what an answer is about."""
    rows = result.to_pylist()
    for each in rows:
        for key in ("start", "end"):
            each[key] = each[key] and each[key].isoformat().replace("+00:00", "Z")
    return rows


def _by_key(evidence: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return evidence by what it is about; of several on one thing, all."""
    found: dict[str, Any] = {}
    for key, value in evidence:
        simple = _simple(value)
        found[key] = f"{found[key]}; {simple}" if key in found else simple
    return found


def _cause(cause: Cause) -> Mapping[str, Any]:
    numbers = {"share": _finite(cause.share), "confidence": _finite(cause.confidence)}
    return {key: getattr(cause, key) for key in WHO} | numbers


def _finite(value: float) -> float | None:
    """Return a number of JSON, which has none that are infinite."""
    number = float(value)
    return number if number - number == 0 else None


def _simple(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _simple(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_simple(part) for part in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    return _finite(value) if hasattr(value, "__float__") else str(value)
