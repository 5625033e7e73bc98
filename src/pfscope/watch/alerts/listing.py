"""What people see of the alerts of a data directory: `pfscope alert list`, and the server's answer.

It reads what the one who sends wrote last, and disturbs nobody.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pfscope.errors import InputError
from pfscope.times import iso
from pfscope.watch.alerts.model import Alert, Kind, Notification
from pfscope.watch.alerts.state_file import StateFile
from pfscope.watch.alerts.templates import fields_of

FOLDER: Final = "alerts"
COLUMNS: Final = (
    "id", "rule", "state", "severity", "since", "ended", "what", "who", "muted", "flapping",
)  # fmt: skip


def overview(directory: Path) -> dict[str, Any]:
    """Return alerts as rows, how many notifications wait to be sent, and what is wrong."""
    if not directory.is_dir():
        raise InputError(f"there is no data directory {directory}")
    try:
        plain = StateFile(directory / FOLDER).read() or _NOTHING
        alerts = [Alert.from_json(item) for item in plain["engine"]["alerts"]]
        rows = [_row(alert, plain["muted"]) for alert in alerts]
        return {"alerts": rows, "waiting": len(plain["outbox"]), "trouble": dict(plain["trouble"])}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{directory / FOLDER} does not hold the state of alerts") from None


_NOTHING: Final[Mapping[str, Any]] = {
    "engine": {"alerts": []}, "outbox": [], "muted": {}, "trouble": {}
}  # fmt: skip


def _row(alert: Alert, muted: Mapping[str, str]) -> dict[str, Any]:
    told = Notification("", "", Kind.FIRING, alert.since_us, (), {}, (alert,))
    fields = fields_of(alert, told, "")
    return {
        "id": alert.id,
        "rule": alert.rule,
        "state": alert.phase.value,
        "severity": alert.severity,
        "since": iso(alert.since_us),
        "ended": None if alert.ended_us is None else iso(alert.ended_us),
        "what": fields["what"],
        "who": fields["who_first"],
        "muted": muted.get(alert.id),
        "flapping": alert.flapping,
    }
