"""Questions over HTTP: `GET /api/v1/query/QUESTION?by=…`, answered by the server's own open store.

Only to who may read; a few at one time, each bounded in time and in rows. What a request says is
read as the command line reads it, so that both refuse the same in the same words.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Final

import pyarrow as pa
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pfscope.errors import InputError, UsageError
from pfscope.privacy.audience import Audience
from pfscope.privacy.pseudonyms import Pseudonyms
from pfscope.privacy.source import SeenBy
from pfscope.query.asked import Site
from pfscope.query.engine import Queryable, StoreEngine
from pfscope.query.keys import KEYS
from pfscope.query.local import LocalSource
from pfscope.query.questions import QUESTIONS, Question
from pfscope.query.request import Option
from pfscope.query.written import FORMATS
from pfscope.server.engine import Engine
from pfscope.server.errors import Refusal, come_later
from pfscope.server.guard import Json
from pfscope.server.metrics import WebCounts
from pfscope.server.openapi_query import PATH
from pfscope.server.reception import Reception
from pfscope.store.patience import OutOfPatienceError, Patience, waiting

_STOPPED_S: Final = 5.0
_HINT: Final = f"GET {PATH} lists the questions and what they take"
_SMALLER: Final = "ask for a shorter period, a longer step, or fewer keys"
Words = dict[str, list[str]]


class Questions:
    """The routes of all questions."""

    def __init__(
        self,
        engine: Engine,
        reception: Reception,
        web: WebCounts,
        site: Site,
        pseudonyms: Pseudonyms,
    ) -> None:
        self._limits = engine.limits
        self._reception = reception
        self._web = web
        self._site, self._pseudonyms = site, pseudonyms
        self._store = _Bounded(engine.store, engine.limits.answer_rows)
        self._source = LocalSource(StoreEngine(self._store), site, lambda: None)
        self._engine_for_some = StoreEngine(self._store)
        self._places = asyncio.Semaphore(engine.limits.questions)
        self._asking: set[Patience] = set()
        self._changed = threading.Condition()

    def routes(self) -> list[Route]:
        """Return the list of questions and a route for each."""
        each = [Route(f"{PATH}/{name}", partial(self._ask, name), methods=["GET"])
                for name in QUESTIONS]  # fmt: skip
        return [Route(PATH, _list, methods=["GET"]), *each]

    async def stop(self) -> None:
        """Break off what is being answered, and wait until it is."""

        def settle() -> None:
            with self._changed:
                for patience in self._asking:
                    patience.lose()
                self._changed.wait_for(lambda: not self._asking, _STOPPED_S)

        await run_in_threadpool(settle)

    async def _ask(self, name: str, request: Request) -> Response:
        source = self._source_for(self._reception.audience(request))
        words = words_of(request)
        style = _style(words.pop("format", []), request.headers.get("accept", ""))

        def write() -> bytes:
            return FORMATS[style][1](source.ask(name, words))

        body = await self.patiently(name, write)
        return Response(body, media_type=FORMATS[style][0])

    def _source_for(self, audience: Audience) -> LocalSource:
        """Return what answers an audience."""
        if audience.everything:
            return self._source
        shared = self._engine_for_some, self._store, self._site
        return SeenBy(*shared, audience, self._pseudonyms)

    async def patiently(self, name: str, work: Callable[[], bytes]) -> bytes:
        """Return an answer that is worked out in its turn, within bounds, in another thread."""
        began_s = time.monotonic()
        patience = Patience(self._limits.question_s)
        try:
            async with self._place(patience):
                return await run_in_threadpool(self._answer, work, patience)
        finally:
            self._web.questions[name] += 1
            self._web.question_s[name] += time.monotonic() - began_s

    @asynccontextmanager
    async def _place(self, patience: Patience) -> AsyncIterator[None]:
        """Wait for one of the places."""
        try:
            async with asyncio.timeout(patience.left_s):
                await self._places.acquire()
        except TimeoutError:
            raise come_later("busy", "too many questions are being answered") from None
        try:
            yield
        finally:
            patience.lose()  # for an answer that nobody waits for any more
            self._places.release()

    @contextmanager
    def _under_way(self, patience: Patience) -> Iterator[None]:
        """Make known what this thread does: it may outlive the request."""
        with self._changed:
            self._asking.add(patience)
        try:
            with waiting(patience):
                yield
        finally:
            with self._changed:
                self._asking.discard(patience)
                self._changed.notify_all()

    def _answer(self, work: Callable[[], bytes], patience: Patience) -> bytes:
        try:
            with self._under_way(patience):
                return work()
        except UsageError as error:
            raise Refusal(400, "question", str(error), _HINT) from None
        except InputError as error:
            raise Refusal(404, "no-data", str(error), "GET /api/v1/ledger says what came") from None
        except OutOfPatienceError as error:
            raise Refusal(503, "too-long", str(error), _SMALLER) from None


class _Bounded:
    """A store whose answers have no more rows than is allowed."""

    def __init__(self, store: Queryable, rows: int) -> None:
        self._store = store
        self._rows = rows

    def query(self, sql: str, parameters: Sequence[object] = ()) -> pa.Table:
        found = self._store.query(f"FROM ({sql}) LIMIT {self._rows + 1}", parameters)
        if found.num_rows > self._rows:
            hint = f"{_SMALLER}; or raise --limit answer_rows"
            raise Refusal(413, "answer-rows", f"the answer exceeds {self._rows} rows", hint)
        return found


async def _list(_request: Request) -> Response:
    return Json({"questions": [_told(question) for question in QUESTIONS.values()],
                 "keys": list(KEYS)})  # fmt: skip


def _told(question: Question) -> dict[str, object]:
    return {
        "name": question.name,
        "summary": question.summary,
        "columns": question.columns,
        "by": list(question.form.by),
        "options": [_option(option) for option in question.form.options],
        "example": f"pfscope query {question.example}",
    }


def _option(option: Option) -> dict[str, object]:
    return {
        "name": option.name,
        "kind": option.kind.__name__,
        "default": option.default,
        "choices": list(option.choices),
        "help": option.help,
    }


def words_of(request: Request) -> Words:
    """Return the parameters of a request."""
    words: Words = {}
    for name, value in request.query_params.multi_items():
        words.setdefault(name, []).append(value)
    return words


def _style(wishes: Sequence[str], accept: str) -> str:
    """Return the format of the answer: the parameter goes before the header, JSON is usual."""
    if wishes:
        if len(wishes) > 1 or wishes[0] not in FORMATS:
            raise Refusal(400, "question", f"format can be {', '.join(FORMATS)}, once", _HINT)
        return wishes[0]
    kinds = [kind.partition(";")[0].strip().lower() for kind in accept.split(",")]
    media = {told.partition(";")[0]: style for style, (told, _write) in FORMATS.items()}
    return next((media[kind] for kind in kinds if kind in media), "json")
