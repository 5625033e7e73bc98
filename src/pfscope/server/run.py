"""Runs the application on a socket until SIGTERM or Ctrl-C: in flight is answered, then all closed.

Where it may listen: on loopback in any way; elsewhere with TLS and tokens only, unless the operator
says aloud that it should be insecure.
"""

import asyncio
import ipaddress
import os
import re
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import uvicorn

from pfscope.errors import InputError, UsageError
from pfscope.server.guard import Guard
from pfscope.server.housekeeper import HOUSEKEEPING
from pfscope.server.limits import Limits
from pfscope.server.logs import configure_logs
from pfscope.server.notify import notify
from pfscope.server.peers import bound_socket
from pfscope.server.protocol import protocol_class

_ADDRESS = re.compile(r"(\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[A-Za-z0-9._-]+)):(?P<port>\d{1,5})")
_PATIENCE_S = 20


@dataclass(frozen=True, slots=True)
class Listen:
    """Where to listen, and with which certificate."""

    host: str
    port: int
    cert: Path | None = None
    key: Path | None = None
    socket: Path | None = None
    """A socket for those who are on this machine."""

    @property
    def scheme(self) -> str:
        """How a URL to here begins."""
        return "https" if self.cert else "http"

    @property
    def is_loopback(self) -> bool:
        """Whether nobody but this machine can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def parse_listen(
    text: str, cert: Path | None = None, key: Path | None = None, local: Path | None = None
) -> Listen:
    """Read `HOST:PORT`; port 0 is any that is free."""
    match = _ADDRESS.fullmatch(text)
    if not match or int(match["port"]) > 65535:
        raise UsageError(f"--listen {text}: should be HOST:PORT, such as 127.0.0.1:8470")
    if bool(cert) != bool(key):
        raise UsageError("--tls-cert and --tls-key go together")
    return Listen(match["six"] or match["host"], int(match["port"]), cert, key, local)


def check_exposure(listen: Listen, tokens: int, insecure: bool) -> list[str]:
    """Return warnings about what is exposed; without `insecure` an exposure is a `UsageError`."""
    if listen.is_loopback:
        return []
    lacks = []
    if listen.cert is None:
        lacks.append("without TLS everybody on the way can read tokens and data")
    if not tokens:
        lacks.append("without tokens everybody can send and read")
    if lacks and not insecure:
        how = "give --tls-cert and --tls-key, make tokens, or say --insecure"
        raise UsageError(f"--listen {listen.host}: {'; '.join(lacks)}; {how}")
    return [f"insecure, as asked: {lack}" for lack in lacks]


def serve(
    make_app: Callable[[], Guard],
    listen: Listen,
    limits: Limits,
    on_listening: Callable[[str], None],
) -> None:
    """Serve until a signal; `on_listening` hears the URL when connections are accepted.

    The application is made when it is sure that nothing stands in the way of listening.
    """
    _check_certificate(listen)
    with ExitStack() as stack:
        listener, url = stack.enter_context(bound(listen))
        local = stack.enter_context(bound_socket(listen.socket)) if listen.socket else None
        server = make_server(make_app(), listen, limits, lambda: on_listening(url), local)
        server.run([listener])
    _leave_housekeeping_behind()


def make_server(
    app: Guard,
    listen: Listen,
    limits: Limits,
    on_listening: Callable[[], None],
    local: socket.socket | None = None,
) -> "Server":
    """Return a server that is ready to run; `local` is its socket for this machine."""
    config = uvicorn.Config(
        app,
        http=protocol_class(limits),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        h11_max_incomplete_event_size=limits.head_bytes,
        timeout_keep_alive=limits.head_s,
        timeout_graceful_shutdown=_PATIENCE_S,
        ssl_certfile=listen.cert,
        ssl_keyfile=listen.key,
    )
    return Server(config, on_listening, app.let_go, local)


class Server(uvicorn.Server):
    """Says when it listens, and ends with a normal exit on a signal."""

    def __init__(
        self,
        config: uvicorn.Config,
        on_listening: Callable[[], None],
        let_go: Callable[[], None],
        local: socket.socket | None = None,
    ) -> None:
        super().__init__(config)
        self._local = local
        self._on_listening = on_listening
        self._let_go = let_go

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say so."""
        configure_logs()
        await super().startup(sockets)
        if self._local is not None:
            loop = asyncio.get_running_loop()
            self.servers.append(await loop.create_unix_server(self._connected, sock=self._local))
        self._on_listening()
        notify("READY=1")

    def _connected(self) -> asyncio.Protocol:
        """Return the protocol of a connection from this machine; it needs no TLS."""
        make = cast(Callable[..., asyncio.Protocol], self.config.http_protocol_class)
        state = self.lifespan.state
        return make(config=self.config, server_state=self.server_state, app_state=state)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer what is in flight, and end."""
        notify("STOPPING=1")
        self._let_go()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End on a signal, but not by it."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        kinds = (signal.SIGTERM, signal.SIGINT)
        before = {kind: signal.signal(kind, self.handle_exit) for kind in kinds}
        try:
            yield
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)


def _leave_housekeeping_behind() -> None:
    """End the process now if a thread of it is in the database still: later it would abort."""
    if any(thread.name == HOUSEKEEPING for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


@contextmanager
def bound(listen: Listen) -> Iterator[tuple[socket.socket, str]]:
    """Give a bound socket and the URL that leads to it."""
    family = socket.AF_INET6 if ":" in listen.host else socket.AF_INET
    # asyncio turns Nagle's delay off only where a socket says that it is TCP.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((listen.host, listen.port))
        except OSError as error:
            where = f"{listen.host}:{listen.port}"
            raise InputError(f"cannot listen on {where}: {error.strerror}") from None
        host = f"[{listen.host}]" if ":" in listen.host else listen.host
        yield listener, f"{listen.scheme}://{host}:{listener.getsockname()[1]}"


def _check_certificate(listen: Listen) -> None:
    if listen.cert and listen.key:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(listen.cert, listen.key)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(
                f"--tls-cert {listen.cert}, --tls-key {listen.key}: {reason}"
            ) from None
