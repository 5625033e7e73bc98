"""Syslog: one line to the local socket, or by UDP to another machine in the form of RFC 5424."""

import os
import socket
from dataclasses import dataclass
from typing import Final

from pfscope.errors import UsageError
from pfscope.times import iso
from pfscope.watch.alerts.model import Kind
from pfscope.watch.alerts.notifiers.base import DeliveryError
from pfscope.watch.alerts.templates import Message

PRIORITIES: Final = {"critical": 2, "warning": 4, "info": 6}
RESOLVED: Final = 5
_DAEMON: Final = 3
_LONGEST: Final = 1800
"""Bytes; what is longer than a packet is lost on the way."""


@dataclass(frozen=True)
class Syslog:
    """`[notify.NAME] type = "syslog"`."""

    address: str = "/dev/log"
    """A socket's path, or HOST:PORT."""

    def __post_init__(self) -> None:
        host, _, port = self.address.rpartition(":")
        if not self.address.startswith("/") and not (host and port.isdecimal()):
            raise UsageError(f"address is {self.address!r}; write /dev/log or HOST:PORT")

    def send(self, message: Message) -> str:
        """Write the line."""
        try:
            if self.address.startswith("/"):
                _write(socket.AF_UNIX, self.address, local_line(message))
            else:
                host, _, port = self.address.rpartition(":")
                place = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_DGRAM)[0]
                _write(place[0], place[4], network_line(message))
        except OSError as error:
            raise DeliveryError(f"{self.address}: {error.strerror or error}") from None
        return f"written to {self.address}"


def _write(family: int, address: object, line: bytes) -> None:
    with socket.socket(family, socket.SOCK_DGRAM) as sender:
        sender.connect(address)  # type: ignore[arg-type] # as getaddrinfo gives it
        sender.send(line)


def local_line(message: Message) -> bytes:
    """Return the line as the local daemon reads it."""
    return f"<{_priority(message)}>pfscope[{os.getpid()}]: ".encode() + one_line(message)


def network_line(message: Message) -> bytes:
    """Return the line with all that RFC 5424 wants."""
    time, host = iso(message.notification.time_us), socket.gethostname() or "-"
    head = f"<{_priority(message)}>1 {time} {host} pfscope {os.getpid()} alert - "
    return head.encode() + one_line(message)


def one_line(message: Message) -> bytes:
    """Return the whole message in one line, cut to what fits."""
    lines = [" ".join(line.split()) for line in message.text.splitlines() if line.strip()]
    text = f"key={message.notification.key} {message.subject} | {' | '.join(lines)}"
    return text.encode()[:_LONGEST].decode("utf-8", "ignore").encode()


def _priority(message: Message) -> int:
    return _DAEMON * 8 + level(message)


def level(message: Message) -> int:
    """Return how severe syslog calls it."""
    told = message.notification
    return RESOLVED if told.kind in (Kind.RESOLVED, Kind.TEST) else PRIORITIES[told.severity]
