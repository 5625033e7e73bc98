"""HTTP on the wire: uvicorn's own protocol with patience, a bound on connections, and our answers.

A connection on which no whole head arrives in time is closed, and so is one beyond the bound;
neither ever reaches the application.
"""

import asyncio
import json
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from pfscope.server.errors import Refusal
from pfscope.server.guard import HEADERS
from pfscope.server.limits import Limits
from pfscope.server.peers import peer_of


class Patient(H11Protocol):
    """One connection."""

    limits: ClassVar[Limits] = Limits()
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to be patient."""
        super().connection_made(transport)
        self.client = peer_of(transport.get_extra_info("socket")) or self.client
        if len(self.connections) > self.limits.connections:
            transport.abort()
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline."""
        self._no_deadline()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Wait no more for a head that is here."""
        super().handle_events()
        if self._in_request:
            self._no_deadline()

    def on_response_complete(self) -> None:
        """Expect the next head, or the rest of a body that nobody reads."""
        self._expect_head()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Say it as everything is said here."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()
            return
        refusal = Refusal(400, "http", msg, "speak HTTP/1.1")
        content = json.dumps(refusal.content).encode()
        headers = [("Content-Type", "application/json"), ("Connection", "close")]
        headers += [("Content-Length", str(len(content))), *HEADERS.items()]
        events: list[Any] = [h11.Response(status_code=400, headers=headers)]
        events += [h11.Data(data=content), h11.EndOfMessage()]
        for event in events:
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    @property
    def _in_request(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _expect_head(self) -> None:
        self._no_deadline()
        self._deadline = self.loop.call_later(self.limits.head_s, self._too_late)

    def _no_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_late(self) -> None:
        self.transport.abort()


def protocol_class(limits: Limits) -> type[Patient]:
    """Return the protocol that keeps these limits."""
    return type("Patient", (Patient,), {"limits": limits})
