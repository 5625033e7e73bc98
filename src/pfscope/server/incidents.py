"""Incidents and alerts over HTTP: what the watch saw and told, only to who may read.

`POST …/acknowledge` says that somebody takes care: it is shown with the incident, and nobody is
reminded of it any more.
"""

import time
from collections.abc import Sequence
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pfscope.errors import PfscopeError, UsageError
from pfscope.privacy.audience import Audience
from pfscope.privacy.incidents import Record, Told
from pfscope.privacy.pseudonyms import Pseudonyms
from pfscope.server.engine import Engine
from pfscope.server.errors import Refusal
from pfscope.server.guard import Json
from pfscope.server.reception import Reception
from pfscope.times import duration_us
from pfscope.watch.acknowledge import SILENT_US, acknowledge
from pfscope.watch.alerts.listing import overview
from pfscope.watch.wanted import Wanted
from pfscope.watch.written import row

PATH: Final = "/api/v1/incidents"
ALERTS: Final = "/api/v1/alerts"
TEXT_AT_MOST: Final = 1000
_SILENT_AT_MOST_US: Final = 30 * 24 * 3600 * 10**6
_HINT: Final = "see GET /api/v1/openapi.json"


class Incidents:
    """The routes of incidents and alerts."""

    def __init__(self, engine: Engine, reception: Reception, pseudonyms: Pseudonyms) -> None:
        self._store, self._pseudonyms = engine.store, pseudonyms
        self._book, self._directory = engine.book, engine.store.directory
        self._reception = reception

    def routes(self) -> list[Route]:
        """Return all of them."""
        return [
            Route(PATH, self._list, methods=["GET"]),
            Route(f"{PATH}/{{name}}", self._one, methods=["GET"]),
            Route(f"{PATH}/{{name}}/acknowledge", self._acknowledge, methods=["POST"]),
            Route(ALERTS, self._alerts, methods=["GET"]),
        ]

    async def _list(self, request: Request) -> Response:
        audience = self._reception.audience(request)
        words: dict[str, list[str]] = {}
        for name, value in request.query_params.multi_items():
            words.setdefault(name, []).append(value)
        try:
            wanted = Wanted.read(words, self._book.watched_us or time.time_ns() // 1000)
        except UsageError as error:
            raise Refusal(400, "question", str(error), _HINT) from None
        records = [record for record in self._book.all() if wanted.during(record)]
        told = await run_in_threadpool(self._told, audience, records)
        found = [row(record) for record in told if wanted.fits(record)]
        about = {**wanted.about(), "watched_us": self._book.watched_us}
        return Json({"about": about, "incidents": found})

    async def _one(self, request: Request) -> Response:
        audience = self._reception.audience(request)
        return await self._answer(self._book.get(request.path_params["name"]), audience)

    async def _acknowledge(self, request: Request) -> Response:
        asker = self._reception.changer(request)
        author, comment = (_said(request, name) for name in ("author", "comment"))
        author = asker.name or author  # who is known speaks for nobody else
        name = request.path_params["name"]
        told = await run_in_threadpool(
            acknowledge, self._directory, self._book, name, author, comment, _silent_us(request)
        )
        return await self._answer(told, self._reception.audience(request))

    async def _answer(self, record: Record | None, audience: Audience) -> Response:
        if record is None:
            hint = f"GET {PATH}?from=-7d lists what there is"
            raise Refusal(404, "no-data", "there is no such incident", hint)
        (told,) = await run_in_threadpool(self._told, audience, [record])
        return Json(row(told))

    def _told(self, audience: Audience, records: Sequence[Record]) -> list[Record]:
        """Return incidents as an audience may see them."""
        told = Told(self._store, audience, self._pseudonyms, records)
        return [told.of(record) for record in records]

    async def _alerts(self, request: Request) -> Response:
        self._reception.seer(request)
        try:
            return Json(await run_in_threadpool(overview, self._directory))
        except PfscopeError as error:
            raise Refusal(404, "no-data", str(error), "the server's log says more") from None


def _silent_us(request: Request) -> int:
    """Return for how long nobody is reminded."""
    wish = request.query_params.get("silent")
    if wish is None or wish == "0":
        return SILENT_US if wish is None else 0
    try:
        silent_us = duration_us(wish)
    except UsageError as error:
        raise Refusal(400, "parameter", str(error), "silent=2h, or 0 for not at all") from None
    if silent_us > _SILENT_AT_MOST_US:
        raise Refusal(400, "parameter", "silent can be 30d at most", "silent=7d")
    return silent_us


def _said(request: Request, name: str) -> str:
    values = request.query_params.getlist(name)
    if len(values) != 1 or not 0 < len(values[0].strip()) <= TEXT_AT_MOST:
        hint = f"{name}=TEXT, once, of up to {TEXT_AT_MOST} characters"
        raise Refusal(400, "parameter", f"say who takes care and why: {name} is missing", hint)
    return values[0]
