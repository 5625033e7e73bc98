"""What holds for every answer: safe headers, a body read to its end, a count.

A sender that is refused while it still writes would meet a reset connection instead of the reason;
so what is left of its body is read and thrown away first, within bounds.
"""

import asyncio
import json
from collections.abc import Callable
from typing import Any, Final

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pfscope.server.errors import Refusal
from pfscope.server.metrics import WebCounts

HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": (
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_TOO_SLOW: Final = 408
_DRAIN_BYTES: Final = 256 << 20
_DRAIN_S: Final = 10.0


class Json(JSONResponse):
    """JSON in ASCII: a sender's name may hold what no UTF-8 can, and still gets its answer."""

    def render(self, content: Any) -> bytes:
        """Return the bytes."""
        return json.dumps(content, separators=(",", ":")).encode("ascii")


class Guard:
    """Wraps the whole application."""

    def __init__(
        self,
        app: Starlette,
        web: WebCounts,
        head_bytes: int,
        let_go: Callable[[], None] = lambda: None,
    ) -> None:
        self.app = app
        self.let_go = let_go
        """Ends the answers that would never end, before all others are waited for."""
        self._web = web
        self._head_bytes = head_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        served: ASGIApp = self.app
        if _head_size(scope) > self._head_bytes:
            served = answer(self._web, Refusal(431, "head", "the request's head is too large"))
        body = _Remains(receive, Request(scope).headers.get("expect", "") == "")
        answered = False

        async def guarded_send(message: Message) -> None:
            nonlocal answered
            if message["type"] == "http.response.start":
                answered = True
                if message["status"] >= 400 and message["status"] != _TOO_SLOW:
                    await body.drain()
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                self._count(scope, message["status"])
            await send(message)

        try:
            await served(scope, body.receive, guarded_send)
        except Exception:
            # A fault that was answered is in the log already.
            if not answered:
                raise

    def _count(self, scope: Scope, status: int) -> None:
        route = getattr(scope.get("route"), "path", "other")
        self._web.requests[route, status] += 1


def answer(web: WebCounts, refusal: Refusal) -> Response:
    """Count a refusal and make it the answer."""
    web.refusals[refusal.code] += 1
    return Json(refusal.content, refusal.status, refusal.headers)


def _head_size(scope: Scope) -> int:
    lines = sum(len(name) + len(value) + 4 for name, value in scope["headers"])
    return lines + len(scope["raw_path"]) + len(scope["query_string"])


class _Remains:
    """The part of a body that nobody has read."""

    def __init__(self, receive: Receive, sent_unasked: bool) -> None:
        self._receive = receive
        self._under_way = sent_unasked
        self._ended = False

    async def receive(self) -> Message:
        self._under_way = True
        message = await self._receive()
        self._ended = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    async def drain(self) -> None:
        left = _DRAIN_BYTES
        try:
            async with asyncio.timeout(_DRAIN_S):
                while self._under_way and not self._ended and left > 0:
                    left -= len((await self.receive()).get("body", b""))
        except TimeoutError:
            return
