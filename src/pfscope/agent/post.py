"""One POST over HTTP(S), by the socket: small enough for a server that has better things to do.

The whole exchange has one deadline and a bounded reply, so that a slow or endless answer cannot
hold the sender. HTTP/1.0 is spoken: the connection ends with the reply and nothing comes in pieces.
The standard library's client is not used because it takes 8 MB of memory, mostly for TLS.
"""

import calendar
import re
import socket
import time
from typing import Any, Dict, NamedTuple, Optional

from pfscope.agent.errors import AgentError

CONTENT_TYPE = "application/vnd.pfscope.frames"
_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:(?P<port>[0-9]{1,5}))?"
    r"(?P<path>(/[!-~]*)?)"
)
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5][0-9][0-9])(?: |\r|\n|$)")
_REPLY_LIMIT = 1 << 20
_PATIENCE_S = 30.0
_SLOWEST_BYTES_PER_S = 256 << 10


class SendError(Exception):
    """The exchange failed; what was sent may or may not have arrived."""


class Reply(NamedTuple):
    """What the server said."""

    status: int
    retry_after_s: float
    body: bytes


class Endpoint:
    """A pfscope server's address, ready to take frames."""

    def __init__(self, url: str, token: Optional[str] = None, ca_file: Optional[str] = None):
        match = _URL.fullmatch(url)
        if not match or "?" in url or "#" in url:
            raise AgentError("url: %r is not of the form http(s)://host[:port][/path]" % url)
        self.secure = match.group("scheme") == "https"
        self.host = match.group("host").strip("[]")
        self.port = int(match.group("port") or (443 if self.secure else 80))
        self._authority = url.split("/")[2]
        self._path = match.group("path").rstrip("/") + "/api/v1/frames"
        self._token = token
        self._tls = _tls_context(ca_file) if self.secure else None

    def post(self, body: bytes, patience_s: float = _PATIENCE_S) -> Reply:
        """Send frames; anything but a complete reply is a `SendError`."""
        deadline = time.monotonic() + patience_s + len(body) / _SLOWEST_BYTES_PER_S
        try:
            with self._connect(deadline) as connection:
                connection.sendall(self._head(len(body)) + body)
                return parse_reply(_receive(connection, deadline))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise SendError(reason) from None

    def _connect(self, deadline: float) -> socket.socket:
        connection = socket.create_connection((self.host, self.port), _left(deadline))
        try:
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_hostname=self.host)
            connection.settimeout(_left(deadline))
        except BaseException:
            connection.close()
            raise
        return connection

    def _head(self, length: int) -> bytes:
        lines = [
            "POST %s HTTP/1.0" % self._path,
            "Host: %s" % self._authority,
            "Content-Type: %s" % CONTENT_TYPE,
            "Content-Length: %d" % length,
            "Connection: close",
        ]
        if self._token:
            lines.append("Authorization: Bearer %s" % self._token)
        return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


def parse_reply(raw: bytes) -> Reply:
    """Read a reply that ended with its connection; one that is not HTTP is a `SendError`."""
    head, separator, body = raw.partition(b"\r\n\r\n")
    status = _STATUS.match(head)
    if not status or not separator:
        raise SendError("the answer is not HTTP")
    fields = _fields(head)
    if len(body) < _length(fields, 0):
        raise SendError("the answer broke off")
    return Reply(int(status.group(1)), retry_after(fields.get(b"retry-after", b"")), body)


def _complete(received: bytearray) -> bool:
    """Whether all of a reply is here although the connection is still open."""
    head, separator, body = bytes(received).partition(b"\r\n\r\n")
    return bool(separator) and len(body) >= _length(_fields(head), 2 * _REPLY_LIMIT)


def _fields(head: bytes) -> Dict[bytes, bytes]:
    lines = (line.partition(b":") for line in head.split(b"\r\n")[1:])
    return {name.strip().lower(): value.strip() for name, _colon, value in lines}


def _length(fields: Dict[bytes, bytes], default: int) -> int:
    value = fields.get(b"content-length", b"")
    return int(value) if value.isdigit() and len(value) < 12 else default


def retry_after(value: bytes, now: float = 0.0) -> float:
    """Return the seconds to wait that a Retry-After header asks for, given either way."""
    if value.isdigit():
        return float(value)
    try:
        when = time.strptime(value.decode("ascii"), "%a, %d %b %Y %H:%M:%S GMT")
    except ValueError:
        return 0.0
    return max(0.0, calendar.timegm(when) - (now or time.time()))


def _receive(connection: socket.socket, deadline: float) -> bytes:
    received = bytearray()
    while True:
        connection.settimeout(_left(deadline))
        chunk = connection.recv(64 << 10)
        received += chunk
        if not chunk or _complete(received):
            return bytes(received)
        if len(received) > _REPLY_LIMIT:
            raise SendError("the answer is too long")


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise SendError("no answer in time")
    return left


def _tls_context(ca_file: Optional[str]) -> Any:
    import ssl  # only for https: it doubles the agent's memory

    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise AgentError("ca_file: %s: %s" % (ca_file, error.strerror)) from None
