"""The words of a notification: what, who, since when, how much, how sure, what to do.

Whatever medium it goes to, a text has no control characters but the line ends that we put there,
and is bounded. `$name` stands for a field; a line whose fields are all empty is left out.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from string import Template
from typing import Any, Final
from urllib.parse import quote

from pfscope.errors import UsageError
from pfscope.times import iso
from pfscope.untrusted import printable
from pfscope.watch.alerts.model import Alert, Kind, Notification, Phase

SUBJECT: Final = "[pfscope] $state: $what; $who_first"
TEXT: Final = """\
$what
  rule:       $rule ($severity), $phase
  since:      $since
  how much:   $how_much
  who:        $who
  how sure:   $how_sure
  evidence:   $evidence
  what to do: $todo
  $commands
  for users:  $user_advice
  look at:    $link
"""
FIELDS: Final = (
    "state", "count", "rule", "severity", "phase", "what", "who", "who_first", "since", "how_much",
    "how_sure", "evidence", "todo", "commands", "user_advice", "link", "id", "filesystem",
)  # fmt: skip
_STATES: Final = {
    Kind.FIRING: "FIRING",
    Kind.UPDATE: "FIRING, more",
    Kind.REPEAT: "still FIRING",
    Kind.RESOLVED: "RESOLVED",
    Kind.TEST: "TEST, nothing is wrong",
}
_WHO: Final = ("user", "job", "node", "executable")
_WORD: Final = 200
_SENTENCE: Final = 2000
_SHOWN_ALERTS: Final = 20
_SHOWN_CAUSES: Final = 3
_SHOWN_NAMES: Final = 4
_PREFIXES: Final = ("", "k", "M", "G", "T", "P")
_INDENT: Final = "\n              "


@dataclass(frozen=True, slots=True)
class Templates:
    """How a notifier words what it tells."""

    subject: str = SUBJECT
    text: str = TEXT
    link: str = ""
    """Where an alert can be looked at: `$id` stands for its incident."""

    def __post_init__(self) -> None:
        for name, text, known in (
            ("subject", self.subject, FIELDS),
            ("text", self.text, FIELDS),
            ("link", self.link, ("id", "filesystem")),
        ):
            _check(name, text, known)


@dataclass(frozen=True, slots=True)
class Message:
    """A notification in words."""

    notification: Notification
    subject: str
    """One line."""
    text: str
    link: str
    """Of the first alert."""


def _check(name: str, text: str, known: tuple[str, ...]) -> None:
    template = Template(text)
    if not template.is_valid():
        raise UsageError(f"{name} is no template: write $name for a field, and $$ for a $")
    for field in template.get_identifiers():
        if field not in known:
            raise UsageError(f"{name}: there is no field ${field}; there are {', '.join(known)}")


def render(notification: Notification, templates: Templates) -> Message:
    """Put a notification into words."""
    shown = notification.alerts[:_SHOWN_ALERTS]
    fields = [fields_of(alert, notification, templates.link) for alert in shown]
    first = fields[0] if fields else {}
    subject = _filled(templates.subject, dict.fromkeys(FIELDS, "") | first)
    parts = [_filled(templates.text, these) for these in fields]
    if notification.kind is Kind.TEST:
        parts.insert(0, "This is a test message: nothing is wrong.")
    if more := len(notification.alerts) - len(shown):
        parts.append(f"and {more} more")
    line = printable(" ".join(subject.split())).strip(" ;:,")
    return Message(notification, line, "\n\n".join(parts) + "\n", first.get("link", ""))


def _filled(text: str, fields: Mapping[str, str]) -> str:
    """Fill in a template line by line, without the lines that would say nothing."""
    lines = []
    for line in text.splitlines():
        template = Template(line)
        names = template.get_identifiers()
        if not names or any(fields[name] for name in names):
            lines.append(template.substitute(fields).rstrip())
    return "\n".join(lines)


def fields_of(alert: Alert, notification: Notification, link: str) -> dict[str, str]:
    """Return all that can be told of an alert, as safe text."""
    count = len(notification.alerts)
    many = f" ({count})" if count > 1 else ""
    told = _of_incident if "incident" in alert.facts else _of_threshold
    fields = {
        "state": f"{_STATES[notification.kind]}{many}",
        "count": str(count),
        "rule": word(alert.rule),
        "severity": word(alert.severity),
        "phase": _phase(alert),
        "since": f"{iso(alert.since_us)}{_lasted(alert.since_us, alert.ended_us)}",
        "id": word(alert.labels.get("incident", (alert.id,))[0]),
        "filesystem": word(alert.labels.get("filesystem", ("",))[0]),
    }
    fields |= told(alert)
    if link:
        quoted = {name: quote(fields[name], safe="") for name in ("id", "filesystem")}
        fields["link"] = Template(link).substitute(quoted)
    return dict.fromkeys(FIELDS, "") | fields


def _phase(alert: Alert) -> str:
    words = {Phase.MISSING: "no data since it fired"}.get(alert.phase, alert.phase.value)
    return f"{words}, flapping" if alert.flapping else words


def _of_incident(alert: Alert) -> dict[str, str]:
    row = alert.facts["incident"]
    causes = [_cause(cause) for cause in row["causes"][:_SHOWN_CAUSES]]
    kind = "change" if row["kind"] == "unknown" else row["kind"].replace("_", " ")
    where = f"{_names(row['operations'])} at {_names(row['targets'])}"
    advice = row["advice"]
    return {
        "what": f"{word(kind)} on {word(row['filesystem'])}: {where}",
        "who": _INDENT.join(causes) or "no single cause is known",
        "who_first": _first(row["causes"]),
        "since": f"{iso(row['start_us'])}{_lasted(row['start_us'], row['end_us'])}",
        "how_much": _how_much(row),
        "how_sure": _percent(row["causes"][0]["confidence"]) if causes else "",
        "evidence": _evidence(row["evidence"]),
        "todo": sentence(advice["admin"]),
        "commands": "\n  ".join(f"  {sentence(command)}" for command in advice["commands"]),
        "user_advice": sentence(advice["user"]),
        "link": sentence(advice["link"]),
    }


def _of_threshold(alert: Alert) -> dict[str, str]:
    facts = alert.facts["threshold"]
    unit = "B" if facts["unit"] == "bytes" else ""
    side = "above" if facts["above"] is not None else "below"
    bound = facts[side]
    of = ", ".join(f"{word(key)} {word(value)}" for key, value in facts["keys"].items())
    number = f"{word(facts['column'])} is {amount(facts['value'], unit)}"
    return {
        "what": f"{of + ': ' if of else ''}{number}, {side} {amount(bound, unit)}",
        "who": _who({key: facts["keys"].get(key) for key in _WHO}),
        "commands": f"  pfscope query {sentence(facts['query'])}",
        "todo": "look closer:",
    }


def _first(causes: list[Mapping[str, Any]]) -> str:
    """Name the strongest cause, for a subject."""
    return f"{_who(causes[0])} ({_percent(causes[0]['share'])})" if causes else ""


def _cause(cause: Mapping[str, Any]) -> str:
    return f"{_who(cause)}: {_percent(cause['share'])} of the increase"


def _who(cause: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {word(cause[key])}" for key in _WHO if cause[key] is not None)


def _names(names: list[str]) -> str:
    shown = ", ".join(map(word, names[:_SHOWN_NAMES])) or "all"
    more = len(names) - _SHOWN_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def _how_much(row: Mapping[str, Any]) -> str:
    of_bytes = row["operations"] and all(name.endswith("_bytes") for name in row["operations"])
    unit = "B/s" if of_bytes else "/s"
    usual = f"{amount(row['peak'], unit)} against {amount(row['baseline'], unit)} as usual"
    return f"{usual}, {row['ratio']:,.3g} times" if row["ratio"] is not None else usual


def _evidence(evidence: Mapping[str, Any]) -> str:
    return "; ".join(f"{word(key)}: {word(value)}" for key, value in evidence.items())


def _lasted(start_us: int, end_us: int | None) -> str:
    if end_us is None:
        return ""
    minutes = max(end_us - start_us, 0) // 60_000_000
    return f" until {iso(end_us)} ({minutes // 60}h{minutes % 60:02}m)"


def _percent(share: float | None) -> str:
    return "unknown" if share is None else f"{share:.0%}"


def amount(value: float | None, unit: str = "") -> str:
    """Return a number with three digits, a prefix where it is large, and its unit.

    >>> amount(19230.4, "/s"), amount(0.25), amount(None)
    ('19.2 k/s', '0.25', 'an unknown amount')
    """
    if value is None:
        return "an unknown amount"
    power = 0
    while abs(value) >= 999.5 and power < len(_PREFIXES) - 1:
        value, power = value / 1000, power + 1
    return f"{value:.3g} {_PREFIXES[power]}{unit}".rstrip()


def _bounded(limit: int) -> Callable[[Any], str]:
    def shown(value: Any) -> str:
        text = printable(str(value))
        return text if len(text) <= limit else f"{text[: limit - 1]}…"

    return shown


word: Final = _bounded(_WORD)
"""Return a name that somebody chose, safe to show."""
sentence: Final = _bounded(_SENTENCE)
"""Return a sentence or a command, safe to show, on one line."""
