"""`GET /api/v1/export` and `…/rows`: a store's rows for other tools, while it is in use.

The first names the files that `pfscope export` is to make, the second streams what stands in one,
as Arrow. A few at one time, each bounded in time: whoever reads holds back housekeeping.
"""

import io
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from typing import Any, Final

import pyarrow as pa
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from pfscope.errors import UsageError
from pfscope.server.engine import Engine
from pfscope.server.errors import Refusal, come_later
from pfscope.server.guard import Json
from pfscope.server.questions import Words, words_of
from pfscope.server.reception import Reception
from pfscope.store.export import STYLES, StoreFiles, asked

PATH: Final = "/api/v1/export"
MEDIA_TYPE: Final = "application/vnd.apache.arrow.stream"
_AT_ONE_TIME: Final = 2
_LONGEST_S: Final = 600.0
_HINT: Final = "docs/reference/http-api.md lists what it takes"
_WORDS: Final = ("from", "to", "table", "format", "wide")


class Exporting:
    """The routes of exports."""

    def __init__(self, engine: Engine, reception: Reception) -> None:
        self._store = engine.store
        self._reception = reception
        self._under_way = 0
        self._ending = False

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route(PATH, self._list, methods=["GET"]),
            Route(f"{PATH}/rows", self._rows, methods=["GET"]),
        ]

    def stop(self) -> None:
        """Break off what is being sent."""
        self._ending = True

    async def _list(self, request: Request) -> Response:
        self._reception.seer(request)
        files = await run_in_threadpool(self._files, _words(request, _WORDS))
        return Json({"files": files.paths})

    async def _rows(self, request: Request) -> Response:
        self._reception.seer(request)
        if self._under_way >= _AT_ONE_TIME:
            raise come_later("busy", "too many exports are under way")
        words = _words(request, (*_WORDS, "file"))
        path = _one(words, "file") or ""
        files = await run_in_threadpool(self._files, words)
        if path not in files.paths:
            raise Refusal(404, "no-data", "the export has no such file", f"GET {PATH} lists them")
        return StreamingResponse(self._sent(files, path), media_type=MEDIA_TYPE)

    def _files(self, words: Words) -> StoreFiles:
        begin, end, style = (_one(words, name) for name in ("from", "to", "format"))
        wide = _one(words, "wide") or "no"
        if wide not in ("yes", "no"):
            raise Refusal(400, "question", "wide can be yes or no", _HINT)
        try:
            wanted = asked(
                self._store, begin, end, words.get("table", []), style or STYLES[0], wide == "yes"
            )
        except UsageError as error:
            raise Refusal(400, "question", str(error), _HINT) from None
        return StoreFiles(self._store, wanted)

    async def _sent(self, files: StoreFiles, path: str) -> AsyncIterator[bytes]:
        """Send one file's rows; whoever takes them too slowly, or at our end, is broken off."""
        until_s = time.monotonic() + _LONGEST_S
        self._under_way += 1
        reading = ExitStack()
        try:
            rows = await run_in_threadpool(reading.enter_context, files.rows(path))
            packed = _Packed(rows.schema)
            while (batch := await run_in_threadpool(_next, rows)) is not None:
                if self._ending or time.monotonic() > until_s:
                    raise come_later("too-long", "the export is broken off", 503)
                yield packed.add(batch)
            yield packed.end()
        finally:
            self._under_way -= 1
            await run_in_threadpool(reading.close)


class _Packed(io.RawIOBase):
    """Batches as the bytes of an Arrow stream, piece by piece."""

    def __init__(self, schema: pa.Schema) -> None:
        super().__init__()
        self._pieces: list[bytes] = []
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        self._stream = pa.ipc.new_stream(self, schema, options=options)

    def add(self, batch: pa.RecordBatch) -> bytes:
        """Return what a batch adds to the stream."""
        self._stream.write_batch(batch)
        return self._new()

    def end(self) -> bytes:
        """Return what ends it."""
        self._stream.close()
        return self._new()

    def writable(self) -> bool:
        """Say so to Arrow."""
        return True

    def write(self, data: Any, /) -> int:
        """Take what Arrow writes."""
        self._pieces.append(bytes(data))
        return len(data)

    def _new(self) -> bytes:
        new = b"".join(self._pieces)
        self._pieces.clear()
        return new


def _next(rows: pa.RecordBatchReader) -> pa.RecordBatch | None:
    return next(rows, None)


def _words(request: Request, known: Sequence[str]) -> Words:
    words = words_of(request)
    for name in words:
        if name not in known:
            raise Refusal(400, "question", f"{name!r} is not known", _HINT)
    return words


def _one(words: Words, name: str) -> str | None:
    values = words.get(name, [])
    if len(values) > 1:
        raise Refusal(400, "question", f"{name} is given twice", _HINT)
    return values[0] if values else None
