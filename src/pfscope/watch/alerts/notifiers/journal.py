"""The systemd journal: the subject as the message, the rest in fields that can be searched."""

import socket
from dataclasses import dataclass
from typing import Final

from pfscope.watch.alerts.notifiers.base import DeliveryError
from pfscope.watch.alerts.notifiers.syslog import level
from pfscope.watch.alerts.templates import Message

_LONGEST: Final = 32_000


@dataclass(frozen=True)
class Journal:
    """`[notify.NAME] type = "journal"`."""

    path: str = "/run/systemd/journal/socket"

    def send(self, message: Message) -> str:
        """Write the entry."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.connect(self.path)
                sender.send(entry(message))
        except OSError as error:
            raise DeliveryError(f"{self.path}: {error.strerror or error}") from None
        return f"written to {self.path}"


def entry(message: Message) -> bytes:
    """Return the entry in the journal's own form: values by their length, whatever is in them."""
    told = message.notification
    fields = {
        "MESSAGE": message.subject,
        "PRIORITY": str(level(message)),
        "SYSLOG_IDENTIFIER": "pfscope",
        "PFSCOPE_KEY": told.key,
        "PFSCOPE_GROUP": told.group,
        "PFSCOPE_KIND": told.kind.value,
        "PFSCOPE_TEXT": message.text[:_LONGEST],
    }
    return b"".join(_field(name, value.encode()) for name, value in fields.items())


def _field(name: str, value: bytes) -> bytes:
    return name.encode() + b"\n" + len(value).to_bytes(8, "little") + value + b"\n"
