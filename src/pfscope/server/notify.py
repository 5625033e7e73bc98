"""Tells systemd how the service fares, where it asked for that; a datagram, no library."""

import os
import socket
from contextlib import suppress


def notify(state: str) -> None:
    """Send `READY=1` or `STOPPING=1` to $NOTIFY_SOCKET, if there is one."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.sendto(state.encode(), address)
