"""A notification as the JSON that programs get: webhooks, and commands that ask for it.

`key` is the same however often a notification is sent, `group` from its first to its last.
"""

import json
from typing import Any, Final

from pfscope.times import iso
from pfscope.watch.alerts.model import Alert, listed
from pfscope.watch.alerts.templates import Message

VERSION: Final = 1


def document(message: Message) -> bytes:
    """Return the message as JSON, always the same bytes."""
    told = message.notification
    plain = {
        "version": VERSION,
        "key": told.key,
        "group": told.group,
        "kind": told.kind.value,
        "time": iso(told.time_us),
        "severity": told.severity,
        "labels": listed(told.labels),
        "subject": message.subject,
        "text": message.text,
        "link": message.link,
        "alerts": [alert_row(alert) for alert in told.alerts],
    }
    return json.dumps(plain, sort_keys=True, allow_nan=False).encode("ascii")


def alert_row(alert: Alert) -> dict[str, Any]:
    """Return an alert as people and programs are shown it."""
    return {
        "id": alert.id,
        "rule": alert.rule,
        "state": alert.phase.value,
        "since": iso(alert.since_us),
        "fired": None if alert.fired_us is None else iso(alert.fired_us),
        "ended": None if alert.ended_us is None else iso(alert.ended_us),
        "flapping": alert.flapping,
        "labels": listed(alert.labels),
        **alert.facts,
    }
