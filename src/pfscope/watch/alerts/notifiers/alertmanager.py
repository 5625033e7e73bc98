"""Prometheus' Alertmanager, version 2 of its API: which may group, mute and route by itself.

It knows an alert by its labels, so only those go along that stay the same from first to last. It
ends what it is not told again: each alert says for how long it is good.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pfscope.times import iso
from pfscope.watch.alerts.model import Alert, Kind, Phase
from pfscope.watch.alerts.notifiers.post import post
from pfscope.watch.alerts.notifiers.secret import Secret, revealed
from pfscope.watch.alerts.templates import Message, fields_of, word

_TEST_US: Final = 300 * 10**6
_TOLD: Final = ("what", "who", "how_much", "how_sure", "evidence", "todo", "commands",
                "user_advice", "since")  # fmt: skip


@dataclass(frozen=True)
class Alertmanager:
    """`[notify.NAME] type = "alertmanager"`."""

    url: Secret | str
    """Without `/api/v2/alerts`."""
    token: Secret | None = None
    valid_us: int = 24 * 3600 * 10**6
    """An alert that is not told again for so long is over: longer than its rule's `repeat`."""
    ca_file: str = ""
    proxy: str = ""
    timeout_us: int = 10_000_000

    def send(self, message: Message) -> str:
        """Post all alerts of a notification."""
        plain = [self._alert(alert, message) for alert in message.notification.alerts]
        body = json.dumps(plain, allow_nan=False).encode("ascii")
        headers = {"Idempotency-Key": message.notification.key}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token.read()}"
        url = revealed(self.url)
        path = f"{url.rstrip('/')}/api/v2/alerts"
        return post(path, body, headers, self.timeout_us, self.ca_file, self.proxy)

    def _alert(self, alert: Alert, message: Message) -> dict[str, Any]:
        fields = fields_of(alert, message.notification, "")
        ended_us = alert.ended_us if alert.phase is Phase.RESOLVED else None
        valid_us = _TEST_US if message.notification.kind is Kind.TEST else self.valid_us
        until_us = ended_us or message.notification.time_us + valid_us
        plain = {
            "labels": _labels(alert),
            "annotations": {name: fields[name] for name in _TOLD if fields[name]},
            "startsAt": iso(alert.since_us),
            "endsAt": iso(until_us),
        }
        return plain | ({"generatorURL": message.link} if message.link else {})


def _labels(alert: Alert) -> Mapping[str, str]:
    """Return the labels that never change while an alert lasts."""
    named = {
        re.sub(r"[^a-zA-Z0-9_]", "_", name): word(",".join(values))
        for name, values in alert.fixed.items()
    }
    return {**named, "alertname": alert.rule, "alert": alert.id}
