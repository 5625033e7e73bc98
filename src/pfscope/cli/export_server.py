"""The files of an export, asked of the server that holds the data directory."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final
from urllib.parse import urlencode

import pyarrow as pa

from pfscope.errors import InputError
from pfscope.remote import Connection

PATH: Final = "/api/v1/export"
_FILE = re.compile(r"[a-z_]+(/day=[0-9]{4}-[0-9]{2}-[0-9]{2})?/part-[0-9]+\.(parquet|csv)")
"""Where a file may lie: nothing that a server says leads out of the directory."""


class ServerFiles:
    """The same as `store.export.StoreFiles`, from a running server."""

    def __init__(
        self,
        connection: Connection,
        begin: str | None,
        end: str | None,
        tables: Sequence[str],
        style: str,
        *,
        wide: bool,
    ) -> None:
        self._connection = connection
        given = {"from": begin, "to": end, "wide": "yes" if wide else None, "format": style}
        words = {name: value for name, value in given.items() if value is not None}
        self._words = [*words.items(), *(("table", table) for table in tables)]
        self.paths = self._listed()

    @contextmanager
    def rows(self, path: str) -> Iterator[pa.RecordBatchReader]:
        """Give what is to stand in a file."""
        asked = f"{PATH}/rows?{urlencode([*self._words, ('file', path)])}"
        with self._connection.stream(asked, "application/vnd.apache.arrow.stream") as response:
            try:
                yield pa.ipc.open_stream(response)
            except pa.ArrowInvalid as error:
                raise InputError(f"{self._connection.url} broke off in {path}") from error

    def _listed(self) -> list[str]:
        told = self._connection.get(f"{PATH}?{urlencode(self._words)}")
        try:
            paths = [str(path) for path in json.loads(told)["files"]]
        except (ValueError, KeyError, TypeError, RecursionError):
            paths = [""]
        if not all(map(_FILE.fullmatch, paths)):
            raise InputError(f"{self._connection.url} does not answer as pfscope does")
        return paths
