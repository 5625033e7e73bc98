"""Reads a table of the configuration into a frozen dataclass: keys, kinds and defaults are its own.

A field whose name ends in `_us` is a duration, written without that end (`timeout = "10s"`). A
secret is never written in the table: `password_file` or `password_env` says where it is.
"""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from pfscope.errors import UsageError
from pfscope.times import duration_us
from pfscope.watch.alerts.notifiers.secret import Secret

Made = TypeVar("Made")


def read_table(kind: type[Made], table: Mapping[str, Any], where: str) -> Made:
    """Return what a table configures; mistakes are told with the place."""
    refuse_unknown(table, keys_of(kind), where)
    hints = get_type_hints(kind)
    values = {}
    for part in _parts(kind):
        value = _value(part, hints[part.name], table, where)
        if value is not MISSING:
            values[part.name] = value
        elif part.default is MISSING and part.default_factory is MISSING:
            keys = " or ".join(_keys(part, hints[part.name]))
            raise UsageError(f"{where}: {keys} is missing")
    try:
        return kind(**values)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error


def keys_of(kind: type[Any]) -> list[str]:
    """Return all keys of a table."""
    hints = get_type_hints(kind)
    return [key for part in _parts(kind) for key in _keys(part, hints[part.name])]


def _parts(kind: type[Any]) -> "tuple[Field[Any], ...]":
    return fields(kind)


def refuse_unknown(table: Any, known: Iterable[str], where: str) -> None:
    """Refuse a key that nobody reads, and name the nearest one."""
    if not isinstance(table, Mapping):
        raise UsageError(f"{where} must be a table")
    for key in table:
        if key not in (names := list(known)):
            near = difflib.get_close_matches(key, names, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(names)}"
            raise UsageError(f"{where}: unknown key {key!r}; {hint}")


def _keys(part: "Field[Any]", hint: Any) -> list[str]:
    """Return the keys that a field can be written as."""
    key = part.metadata.get("key", part.name).removesuffix("_us")
    if not _is_secret(hint):
        return [key]
    return [*([key] if str in get_args(hint) else []), f"{key}_file", f"{key}_env"]


def _is_secret(hint: Any) -> bool:
    return hint is Secret or Secret in get_args(hint)


def _value(part: "Field[Any]", hint: Any, table: Mapping[str, Any], where: str) -> Any:
    given = [key for key in _keys(part, hint) if key in table]
    if not given:
        return MISSING
    if len(given) > 1:
        raise UsageError(f"{where}: {' and '.join(given)} say the same")
    key, value = given[0], table[given[0]]
    if _is_secret(hint) and key.endswith(("_file", "_env")):
        place = text(value, f"{where}: {key}")
        return Secret(file=place) if key.endswith("_file") else Secret(variable=place)
    if part.name.endswith("_us"):
        if time_us := duration(value, f"{where}: {key}"):
            return time_us
        raise UsageError(f"{where}: {key} must be more than nothing")
    return _plain(hint, value, f"{where}: {key}")


def _plain(hint: Any, value: Any, where: str) -> Any:
    if hint is bool:
        return truth(value, where)
    if hint is int:
        return whole(value, where)
    return texts(value, where) if get_origin(hint) is tuple else text(value, where)


def text(value: Any, where: str) -> str:
    """Return a text."""
    if not isinstance(value, str) or "\x00" in value:
        raise UsageError(f"{where} must be a string")
    return value


def texts(value: Any, where: str) -> tuple[str, ...]:
    """Return a list of texts; one alone may stand for itself."""
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) and item for item in items):
        raise UsageError(f"{where} must be a list of strings")
    return tuple(items)


def truth(value: Any, where: str) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise UsageError(f"{where} must be true or false")
    return value


def whole(value: Any, where: str) -> int:
    """Return a whole number."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise UsageError(f"{where} must be a whole number, 1 or more")
    return value


def duration(value: Any, where: str) -> int:
    """Return a duration in microseconds; 0 is none."""
    if value == 0 and not isinstance(value, bool):
        return 0
    if not isinstance(value, str):
        raise UsageError(f'{where} must be a duration, such as "5m"')
    try:
        return duration_us(value)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error
