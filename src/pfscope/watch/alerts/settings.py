"""The `[alert.NAME]` and `[notify.NAME]` tables of the configuration: rules, and whom they tell."""

import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

from pfscope.errors import UsageError
from pfscope.watch.alerts.fields import (
    duration,
    read_table,
    refuse_unknown,
    text,
    texts,
)
from pfscope.watch.alerts.model import SEVERITIES
from pfscope.watch.alerts.notifiers import NOTIFIERS
from pfscope.watch.alerts.notifiers.base import Notifier
from pfscope.watch.alerts.rules import (
    FILTERS,
    Flapping,
    Inhibition,
    OnIncidents,
    Rule,
    Threshold,
    circle,
)
from pfscope.watch.alerts.templates import Templates

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_LABEL = re.compile(r"[a-z_][a-z0-9_]{0,63}")
_KEPT: Final = ("rule", "incident", *FILTERS)
"""Labels that a rule cannot set."""
_INCIDENTS: Final = ("on", "severity", *FILTERS)
THRESHOLD: Final = ("query", "column", "above", "below", "every", "stale")
COMMON: Final = (
    "for", "keep_firing_for", "notify", "group_by", "repeat", "update", "labels", "flapping",
    "inhibits",
)  # fmt: skip
WORDS: Final = ("subject", "text", "link")


@dataclass(frozen=True)
class Channel:
    """A notifier, and how it words what it tells."""

    name: str
    notifier: Notifier
    templates: Templates


@dataclass(frozen=True)
class Alerts:
    """All that a site configures of alerts."""

    rules: tuple[Rule, ...] = ()
    channels: Mapping[str, Channel] = field(default_factory=dict)


def read_alerts(alert: Any, notify: Any, name: str) -> Alerts:
    """Read both kinds of tables; `name` is what errors call the file."""
    channels = {
        key: _channel(key, table, f"{name}: [notify.{key}]")
        for key, table in _tables(notify, name, "notify")
    }
    rules = tuple(
        _rule(key, table, f"{name}: [alert.{key}]", channels)
        for key, table in _tables(alert, name, "alert")
    )
    if round_about := circle(rules):
        raise UsageError(f"{name}: alerts mute each other: {' → '.join(round_about)}")
    return Alerts(rules, channels)


def _tables(tables: Any, name: str, kind: str) -> list[tuple[str, Mapping[str, Any]]]:
    if not isinstance(tables, Mapping):
        raise UsageError(f"{name}: {kind} must be tables such as [{kind}.ops]")
    for key, table in tables.items():
        where = f"{name}: [{kind}.{key}]"
        if not _NAME.fullmatch(key):
            raise UsageError(f"{where}: a name is letters, digits, dashes and underscores")
        if not isinstance(table, Mapping):
            raise UsageError(f"{where} must be a table")
    return list(tables.items())


def _channel(name: str, table: Mapping[str, Any], where: str) -> Channel:
    kind = table.get("type")
    if not isinstance(kind, str) or kind not in NOTIFIERS:
        raise UsageError(f"{where}: type must be one of {', '.join(NOTIFIERS)}")
    module = import_module(f"pfscope.watch.alerts.notifiers.{kind}")
    words = {key: text(table[key], f"{where}: {key}") for key in WORDS if key in table}
    rest = {key: value for key, value in table.items() if key not in ("type", *WORDS)}
    notifier: Notifier = read_table(getattr(module, NOTIFIERS[kind]), rest, where)
    try:
        return Channel(name, notifier, Templates(**words))
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error


def _rule(name: str, table: Mapping[str, Any], where: str, channels: Mapping[str, Any]) -> Rule:
    is_query = "query" in table
    refuse_unknown(table, (*COMMON, *(THRESHOLD if is_query else _INCIDENTS)), where)
    if not is_query and table.get("on") != "incidents":
        raise UsageError(f'{where}: write on = "incidents", or query = "…"')
    on = _threshold(table, where) if is_query else _on_incidents(table, where)
    values: dict[str, Any] = {
        f"{key}_us": duration(table[key], f"{where}: {key}")
        for key in ("for", "keep_firing_for", "update")
        if key in table
    }
    if "repeat" in table:
        values["repeat_us"] = duration(table["repeat"], f"{where}: repeat") or None
    for key in ("notify", "group_by"):
        if key in table:
            values[key] = texts(table[key], f"{where}: {key}")
    _check_receivers(values.get("notify", ()), channels, where)
    if "flapping" in table:
        values["flapping"] = read_table(Flapping, table["flapping"], f"{where}: flapping")
    if "inhibits" in table:
        values["inhibits"] = read_table(Inhibition, table["inhibits"], f"{where}: inhibits")
    return Rule(name, on, labels=_labels(table.get("labels", {}), where, is_query), **values)


def _check_receivers(names: tuple[str, ...], channels: Mapping[str, Any], where: str) -> None:
    for name in names:
        if name not in channels:
            known = ", ".join(channels) or "none"
            raise UsageError(f"{where}: there is no [notify.{name}]; there are {known}")


def _on_incidents(table: Mapping[str, Any], where: str) -> OnIncidents:
    severity = table.get("severity", "info")
    if severity not in SEVERITIES:
        raise UsageError(f"{where}: severity must be one of {', '.join(SEVERITIES)}")
    filters = {key: texts(table[key], f"{where}: {key}") for key in FILTERS if key in table}
    return OnIncidents(severity, filters)


def _threshold(table: Mapping[str, Any], where: str) -> Threshold:
    question, words, by = _question(text(table["query"], f"{where}: query"), where)
    bounds: dict[str, Any] = {
        key: _number(table[key], f"{where}: {key}") for key in _BOUNDS if key in table
    }
    if len(bounds) != 1:
        raise UsageError(f"{where}: write above = NUMBER, or below = NUMBER")
    if "column" not in table:
        raise UsageError(f"{where}: column must name a column of the answer")
    values: dict[str, Any] = {
        f"{key}_us": duration(table[key], f"{where}: {key}") for key in _TIMES if key in table
    }
    column = text(table["column"], f"{where}: column")
    return Threshold(table["query"], question, words, by, column, **bounds, **values)


_BOUNDS: Final = ("above", "below")
_TIMES: Final = ("every", "stale")


def _question(query: str, where: str) -> tuple[str, dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Read a question as it stands on the command line; one that cannot be asked is told now."""
    from pfscope.query.questions import find_question  # only where there is a question

    try:
        name, *rest = shlex.split(query) or [""]
        words = _words(rest)
        question = find_question(name)
        return name, words, question.form.request(words).by
    except (UsageError, ValueError) as error:
        raise UsageError(f"{where}: query: {error}") from error


def _words(arguments: list[str]) -> dict[str, tuple[str, ...]]:
    """Return `--name value` pairs by name."""
    words: dict[str, tuple[str, ...]] = {}
    rest = iter(arguments)
    for flag in rest:
        name, joined, value = flag.partition("=")
        if not name.startswith("--"):
            raise UsageError(f"{flag!r} is no option")
        if not joined and (value := next(rest, "")) == "":
            raise UsageError(f"{flag} has no value")
        key = {"--lustre-server": "server"}.get(name, name[2:].replace("-", "_"))
        words[key] = (*words.get(key, ()), value)
    return words


def _number(value: Any, where: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise UsageError(f"{where} must be a number")
    return float(value)


def _labels(table: Any, where: str, is_query: bool) -> dict[str, str]:
    if not isinstance(table, Mapping):
        raise UsageError(f"{where}: labels must be a table of strings")
    kept = _KEPT if is_query else (*_KEPT, "severity")
    for key, value in table.items():
        if not _LABEL.fullmatch(key) or key in kept:
            raise UsageError(f"{where}: labels cannot have {key!r}")
        if key == "severity" and value not in SEVERITIES:
            raise UsageError(f"{where}: severity must be one of {', '.join(SEVERITIES)}")
    return {key: text(value, f"{where}: labels: {key}") for key, value in table.items()}
