"""`GET /api/v1/now` and `/api/v1/live`: what happens, from memory, worked out once for all who ask.

An answer is kept as bytes until the next observation; who sees the same and asks the same in
between gets the same bytes. `live` pushes them as server-sent events, so that nobody need ask again
and again.
"""

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Hashable
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from pfscope.errors import UsageError
from pfscope.now.now import Now
from pfscope.now.wish import Wish
from pfscope.privacy.audience import Audience
from pfscope.privacy.pseudonyms import Pseudonyms
from pfscope.privacy.shown import Shown
from pfscope.query.asked import Site
from pfscope.server.engine import Engine
from pfscope.server.errors import Refusal, come_later
from pfscope.server.questions import Questions, words_of
from pfscope.server.reception import Reception

NOW: Final = "/api/v1/now"
LIVE: Final = "/api/v1/live"
_KEPT: Final = 512
_BREATH_S: Final = 15.0
"""So often something is sent when nothing happens, so that either end sees that the other lives."""
_SETTLE_S: Final = 0.5
"""Servers are observed at the same times: what they send within this is told together."""
_HINT: Final = "docs/reference/http-api.md lists what it takes"


class Watching:
    """The routes of now, and who is told of what is new."""

    def __init__(
        self,
        engine: Engine,
        reception: Reception,
        questions: Questions,
        site: Site,
        pseudonyms: Pseudonyms,
    ) -> None:
        self._reception = reception
        self._questions = questions
        self._now = Now(engine.store, site, engine.recent)
        self._shown = Shown(engine.store, pseudonyms, site.login_nodes)
        self._recent = engine.recent
        self._watchers = 0
        self._most = engine.limits.watchers
        self._bodies: OrderedDict[Hashable, tuple[int, asyncio.Task[bytes]]] = OrderedDict()
        self._fresh: asyncio.Event | None = None
        self._settling = self._ending = False

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route(NOW, self._ask, methods=["GET"]),
            Route(LIVE, self._live, methods=["GET"]),
        ]

    def stop(self) -> None:
        """Let those who watch go."""
        self._ending = True
        if self._fresh:
            self._fresh.set()

    async def _ask(self, request: Request) -> Response:
        audience = self._reception.audience(request)
        body = await self._body(_wish(request), audience)
        mark = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        headers = {"ETag": mark}
        if mark in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(body, media_type="application/json", headers=headers)

    async def _live(self, request: Request) -> Response:
        audience = self._reception.audience(request)
        wish = _wish(request)
        if wish.at is not None:
            raise Refusal(400, "question", "live is now: leave `at` out", _HINT)
        if self._watchers >= self._most:
            raise come_later("busy", "too many are watching")
        await self._body(wish, audience)  # what makes no sense is refused while it still can be
        return StreamingResponse(self._events(wish, request), media_type="text/event-stream")

    async def _events(self, wish: Wish, request: Request) -> AsyncIterator[bytes]:
        self._watchers += 1
        try:
            sent = -1
            while not self._ending:
                fresh = self._next()
                version = self._recent.version
                if version != sent:
                    sent = version
                    audience = self._still(request)
                    if audience is None:
                        return
                    yield _event(version, await self._body(wish, audience))
                try:
                    await asyncio.wait_for(fresh.wait(), _BREATH_S)
                except TimeoutError:
                    yield b": nothing new\n\n"
        finally:
            self._watchers -= 1

    def _still(self, request: Request) -> Audience | None:
        """Return what somebody who watches may see by now; None: nothing any more."""
        try:
            return self._reception.audience(request)
        except Refusal:
            return None

    def _next(self) -> asyncio.Event:
        """Return what is set at the next observation."""
        if self._fresh is None:
            self._fresh = asyncio.Event()
            wake = partial(_call_soon, asyncio.get_running_loop(), self._wake)
            self._recent.tell(wake)
        return self._fresh

    def _wake(self) -> None:
        if not self._settling:
            self._settling = True
            asyncio.get_running_loop().call_later(_SETTLE_S, self._settled)

    def _settled(self) -> None:
        self._settling = False
        if self._fresh:
            self._fresh.set()
            self._fresh = asyncio.Event()

    async def _body(self, wish: Wish, audience: Audience) -> bytes:
        """Return the answer, worked out once for an audience until something new comes."""
        work = partial(self._written, wish, audience)
        if wish.at is not None:
            return await self._questions.patiently("now", work)
        version = self._recent.version
        key = wish, audience
        kept = self._bodies.pop(key, None)
        if kept is None or kept[0] != version or (kept[1].done() and kept[1].exception()):
            kept = version, asyncio.create_task(self._questions.patiently("now", work))
        self._bodies[key] = kept
        if len(self._bodies) > _KEPT:
            self._bodies.popitem(last=False)
        return await asyncio.shield(kept[1])

    def _written(self, wish: Wish, audience: Audience) -> bytes:
        shown = None if audience.everything else partial(self._shown.rows, audience=audience)
        document = self._now.document(wish, shown)
        return json.dumps(document, separators=(",", ":"), allow_nan=False).encode("ascii")


def _call_soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """Call it in a loop, if that is still there."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(call)


def _event(version: int, body: bytes) -> bytes:
    return b"event: now\nid: %d\ndata: %s\n\n" % (version, body)


def _wish(request: Request) -> Wish:
    try:
        return Wish.read(words_of(request))
    except UsageError as error:
        raise Refusal(400, "question", str(error), _HINT) from None
