"""A test message: looks like an alert, says that it is none, and is marked so for programs."""

import secrets

from pfscope.watch.alerts.model import Alert, Kind, Notification, Phase, Seen
from pfscope.watch.alerts.notifiers.base import DeliveryError
from pfscope.watch.alerts.settings import Channel
from pfscope.watch.alerts.templates import render

_INCIDENT = {
    "id": "test", "start_us": 0, "end_us": None, "state": "ongoing", "severity": "info",
    "filesystem": "test", "targets": ["test-MDT0000"], "operations": ["open"],
    "baseline": 100.0, "peak": 1000.0, "ratio": 10.0, "kind": "test message",
    "causes": [{"user": "nobody", "job": None, "node": None, "executable": None, "share": 1.0,
                "confidence": 1.0}],
    "advice": {"user": "", "admin": "nothing: somebody tried whether messages arrive",
               "commands": [], "link": ""},
    "evidence": {},
}  # fmt: skip


def trial(channel: Channel, now_us: int) -> Notification:
    """Return the notification of a test."""
    labels = {"rule": ("test",), "severity": ("info",), "filesystem": ("test",)}
    facts = {"incident": _INCIDENT | {"start_us": now_us}}
    alert = Alert(
        "test", "test", Phase.FIRING, Seen.ACTIVE, now_us, labels, facts, Seen.ACTIVE,
        fired_us=now_us, fixed=labels,
    )  # fmt: skip
    group = f"test-{secrets.token_hex(8)}"
    return Notification(f"{group}-0", group, Kind.TEST, now_us, (channel.name,), labels, (alert,))


def try_channel(channel: Channel, now_us: int) -> tuple[bool, str]:
    """Send a test message once; return whether it arrived, and what happened."""
    try:
        message = render(trial(channel, now_us), channel.templates)
        return True, channel.notifier.send(message)
    except DeliveryError as error:
        return False, str(error)
