"""One incident in words, for a terminal: what, who, since when, how sure, and what to paste."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pfscope.figures import abbreviated
from pfscope.query.metrics import is_bytes
from pfscope.times import iso
from pfscope.untrusted import printable
from pfscope.watch.written import WHO

_NOBODY: Final = "no single cause"


def incident_text(told: Mapping[str, Any]) -> str:
    """Return everything that is known of an incident."""
    return "".join(f"{line}\n" for line in _lines(told))


def who_first(told: Mapping[str, Any]) -> str:
    """Name the strongest cause."""
    return _who(told["causes"][0]) if told["causes"] else _NOBODY


def care(told: Mapping[str, Any]) -> str:
    """Say who takes care of it."""
    said = told["acknowledged"]
    return printable(f"{said['author']}: {said['comment']} ({iso(said['time_us'])})")


def _lines(told: Mapping[str, Any]) -> Iterator[str]:
    advice = told["advice"]
    yield _line("incident", f"{told['id']}, {told['kind'].replace('_', ' ')}")
    yield _line("state", f"{told['state']}, {told['severity']}")
    yield _line("since", told["start"] + (f" until {told['end']}" if told["end"] else ""))
    yield _line("where", f"{told['filesystem']}: {', '.join(told['targets']) or 'all targets'}")
    yield _line("what", ", ".join(told["operations"]))
    yield _line("how much", _how_much(told))
    for number, cause in enumerate(told["causes"]):
        yield _line("who" if not number else "", f"{_who(cause)}{_sureness(cause)}")
    if not told["causes"]:
        yield _line("who", _NOBODY)
    for number, (key, value) in enumerate(told.get("evidence", {}).items()):
        yield _line("evidence" if not number else "", f"{key}: {value}")
    if told.get("acknowledged"):
        yield _line("care", care(told))
    yield _line("for users", advice["user"])
    yield _line("for admins", advice["admin"])
    for command in advice["commands"]:
        yield f"  {printable(command)}"
    yield _line("more", advice["link"])


def _line(name: str, text: str) -> str:
    return f"{name:<13}{printable(text)}"


def _who(cause: Mapping[str, Any]) -> str:
    named = ", ".join(f"{key} {cause[key]}" for key in WHO if cause[key] is not None)
    return f"{named or 'somebody without a name'} ({_percent(cause['share'])})"


def _sureness(cause: Mapping[str, Any]) -> str:
    return f", sure to {_percent(cause['confidence'])}"


def _percent(part: float | None) -> str:
    return "unknown" if part is None else f"{part:.0%}"


def _how_much(told: Mapping[str, Any]) -> str:
    operations = told["operations"]
    unit = "B/s" if operations and all(map(is_bytes, operations)) else "/s"
    usual, peak = (
        "unknown" if told[key] is None else abbreviated(told[key], unit)
        for key in ("baseline", "peak")
    )
    times = "" if told["ratio"] is None else f", {told['ratio']:,.3g} times as much"
    return f"{peak} against {usual} as usual{times}"
