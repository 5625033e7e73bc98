"""The HTTP face: one small handler for each route, one shape for every refusal.

Nothing is read of a body before the sender is known and its place in flight is taken.
"""

import contextlib
import difflib
import logging
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

import pfscope
from pfscope.privacy.pseudonyms import Pseudonyms
from pfscope.privacy.settings import Privacy
from pfscope.query.asked import Site
from pfscope.query.metrics import SHIPPED
from pfscope.server import metrics, openapi
from pfscope.server.engine import Engine
from pfscope.server.errors import RETRY_AFTER_S, Refusal, come_later
from pfscope.server.export import Exporting
from pfscope.server.guard import Guard, Json, answer
from pfscope.server.incidents import Incidents
from pfscope.server.judge import TextFrame, Verdict, check_server, judge
from pfscope.server.now import Watching
from pfscope.server.questions import Questions
from pfscope.server.receive import Body, Collected, Held, Share, Sink
from pfscope.server.reception import Reception
from pfscope.server.sign_in import SignIn
from pfscope.server.tokens import Gate, Token
from pfscope.store.protocol import StoreError

log = logging.getLogger("pfscope.server")
FRAMES_TYPE: Final = "application/vnd.pfscope.frames"
_FRAMES_TYPES: Final = ("", FRAMES_TYPE, "application/octet-stream")
_SECONDS = re.compile(r"[0-9]{1,10}(\.[0-9]{1,9})?")
_LATEST_US: Final = 9_000_000_000 * 10**6
_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>pfscope</title></head><body>
<h1>pfscope</h1>
<p>This server receives what agents read on Lustre servers. It tells how it fares:
<a href="ready">ready</a>, <a href="metrics">metrics</a>, <a href="api/v1/ledger">ledger</a>,
<a href="api/v1/openapi.json">its interface</a>. It answers <a href="api/v1/query">questions</a>
about who did what.</p>
</body></html>
"""
Handler = Callable[[Request], Awaitable[Response]]


def create_app(
    engine: Engine,
    gate: Gate,
    site: Site | None = None,
    pages: Sequence[Route] = (),
    privacy: Privacy | None = None,
) -> Guard:
    """Return the application that serves this engine to whom the gate lets in.

    `pages` are for people; without any, one says what this is.
    """
    reception = Reception(gate, privacy or Privacy())
    face = _Face(engine, reception)
    pseudonyms, site = Pseudonyms(engine.store.directory), site or Site(SHIPPED)
    questions = Questions(engine, reception, face.web, site, pseudonyms)
    incidents = Incidents(engine, reception, pseudonyms)
    web = face.web
    watching = Watching(engine, reception, questions, site, pseudonyms)
    exporting = Exporting(engine, reception)

    def let_go() -> None:
        watching.stop()
        exporting.stop()

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await questions.stop()
        await run_in_threadpool(engine.close)

    app = Starlette(
        routes=[
            *pages,
            *face.routes(),
            *questions.routes(),
            *watching.routes(),
            *exporting.routes(),
            *incidents.routes(),
            *SignIn(reception, engine.store).routes(),
        ],
        exception_handlers=_refusing(web),
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return Guard(app, web, engine.limits.head_bytes, let_go)


def _refusing(web: metrics.WebCounts) -> dict[Any, Any]:
    """Return how each kind of error becomes an answer."""

    async def refused(_request: Request, refusal: Exception) -> Response:
        assert isinstance(refusal, Refusal)
        return answer(web, refusal)

    async def unserved(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        refusal = _unserved(error.status_code, dict(error.headers or {}))
        return await refused(request, refusal)

    async def store_failed(request: Request, _error: Exception) -> Response:
        return await refused(request, come_later("not-ready", "the store fails", 503))

    async def broken(request: Request, error: Exception) -> Response:
        log.error("a fault in %s", request.url.path, exc_info=error)
        message = "the server has a fault; its log says more"
        return await refused(request, Refusal(500, "fault", message, "report it"))

    return {
        Refusal: refused,
        HTTPException: unserved,
        StoreError: store_failed,
        Exception: broken,
    }


def _unserved(status: int, headers: dict[str, str]) -> Refusal:
    hint = "/api/v1/openapi.json lists everything there is"
    if status == 404:
        return Refusal(404, "not-found", "there is nothing here", hint)
    if status == 405:
        allowed = headers.get("Allow", "")
        return Refusal(405, "method", f"this takes {allowed} only", hint, headers)
    return Refusal(status, "request", "the request cannot be served", hint, headers)


class _Face:
    def __init__(self, engine: Engine, reception: Reception) -> None:
        self.web = metrics.WebCounts()
        self._engine = engine
        self._reception = reception
        self._held = Held(engine.limits.held_bytes)

    def routes(self) -> list[Route]:
        return [
            Route("/", _page, methods=["GET"]),
            Route("/health", _health, methods=["GET"]),
            Route("/ready", self._ready, methods=["GET"]),
            Route("/metrics", self._metrics, methods=["GET"]),
            Route("/api/v1/openapi.json", _openapi, methods=["GET"]),
            Route("/api/v1/ledger", self._ledger, methods=["GET"]),
            Route("/api/v1/frames", self._frames, methods=["POST"]),
            Route("/api/v1/lctl", self._lctl, methods=["POST"]),
        ]

    async def _frames(self, request: Request) -> Response:
        with self._in_flight(request) as token:
            _only_parameters(request, ())
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind not in _FRAMES_TYPES:
                raise Refusal(415, "type", f"this takes {FRAMES_TYPE}", "see /api/v1/lctl for text")
            with Share(self._held) as share:
                sink = Collected(share)
                await self._take_in(request, sink, share)
                items = await run_in_threadpool(
                    judge, sink.data, token.speaks_for, self._engine.limits
                )
                return _verdicts(await self._engine.keep(items))

    async def _lctl(self, request: Request) -> Response:
        with self._in_flight(request) as token:
            _only_parameters(request, ("server", "time"))
            server = request.query_params.get("server", "")
            check_server(server, token.speaks_for)
            time_us = _time_us(request.query_params.get("time"))
            with Share(self._held) as share:
                sink = TextFrame(share)
                await self._take_in(request, sink, share)
                (verdict,) = await self._engine.keep([sink.finish(server, time_us)])
        if verdict.status == "retry":
            raise come_later("later", verdict.reason, 503)
        if verdict.status == "rejected":
            raise Refusal(403, verdict.code, verdict.reason)
        return _verdicts([verdict])

    async def _take_in(self, request: Request, sink: Sink, share: Share) -> None:
        encoding = request.headers.get("content-encoding", "identity")
        body = Body(encoding, sink, self._engine.limits, share)
        declared = request.headers.get("content-length", "")
        try:
            await body.take(request.stream(), int(declared) if declared.isdecimal() else None)
        except ClientDisconnect:
            raise Refusal(400, "broken-off", "the body broke off") from None
        finally:
            self.web.travelled_bytes += body.travelled
            self.web.undone_bytes += body.undone
        if not body.undone:
            raise Refusal(400, "empty", "the body is empty", "send what lctl or the agent wrote")

    @contextmanager
    def _in_flight(self, request: Request) -> Iterator[Token]:
        """Take one of the places in flight for somebody who is known."""
        if self.web.in_flight >= self._engine.limits.requests:
            raise come_later("busy", "too many requests are in flight")
        self.web.in_flight += 1
        try:
            yield self._reception.sender(request)
        finally:
            self.web.in_flight -= 1

    async def _ready(self, _request: Request) -> Response:
        problems = await run_in_threadpool(self._engine.problems)
        if problems:
            raise come_later("not-ready", "; ".join(problems), 503)
        return Json({"status": "ready"})

    async def _metrics(self, request: Request) -> Response:
        self._reception.operator(request)
        text = await run_in_threadpool(metrics.render, self._engine, self.web)
        return PlainTextResponse(text, media_type=metrics.CONTENT_TYPE)

    async def _ledger(self, request: Request) -> Response:
        self._reception.operator(request)
        lines = await run_in_threadpool(self._engine.ledger)
        return Json({"ledger": [line._asdict() for line in lines]})


async def _page(_request: Request) -> Response:
    return HTMLResponse(_PAGE)


async def _health(_request: Request) -> Response:
    return Json({"status": "alive", "version": pfscope.__version__})


async def _openapi(_request: Request) -> Response:
    return Json(openapi.document())


def _verdicts(verdicts: Sequence[Verdict]) -> Response:
    frames = [_told(verdict) for verdict in verdicts]
    later = any(verdict.status == "retry" for verdict in verdicts)
    return Json({"frames": frames}, headers={"Retry-After": str(RETRY_AFTER_S)} if later else None)


def _told(verdict: Verdict) -> dict[str, Any]:
    server, epoch, sequence = verdict.key
    reason = f"{verdict.code}: {verdict.reason}" if verdict.reason else verdict.code
    return {
        "server": server,
        "epoch": epoch,
        "sequence": sequence,
        "status": verdict.status,
        "reason": reason,
    }


def _only_parameters(request: Request, known: Sequence[str]) -> None:
    seen = set()
    for name, _value in request.query_params.multi_items():
        if name in seen:
            raise Refusal(400, "parameter", "a parameter is given twice")
        seen.add(name)
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known) or 'none'}"
            raise Refusal(400, "parameter", "a parameter is not known", hint)


def _time_us(text: str | None) -> int:
    """Read seconds since 1970 or ISO 8601 (UTC unless it says otherwise); no text is now."""
    if text is None:
        return time.time_ns() // 1000
    if _SECONDS.fullmatch(text):
        whole, _dot, part = text.partition(".")
        time_us = int(whole) * 10**6 + int((part + "000000")[:6])
    else:
        time_us = _iso_us(text)
    if not 0 <= time_us < _LATEST_US:
        raise _bad_time()
    return time_us


def _iso_us(text: str) -> int:
    try:
        # An offset's plus arrives as a blank where nobody escaped it.
        moment = datetime.fromisoformat(re.sub(r" (?=[0-9]{2}:?[0-9]{2}$)", "+", text))
    except ValueError:
        raise _bad_time() from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86400 + since.seconds) * 10**6 + since.microseconds


def _bad_time() -> Refusal:
    hint = "time=1763467200 or time=2026-11-18T12:00:00Z"
    return Refusal(400, "time", "the time is neither seconds since 1970 nor ISO 8601", hint)
