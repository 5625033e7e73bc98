"""Where pictures come from: a server, asked or pushing, or a directory with recorded data."""

import json
import os
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.client import HTTPResponse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import urlencode

from pfscope.errors import InputError
from pfscope.remote import INCIDENTS, Connection

if TYPE_CHECKING:
    from pfscope.now.now import Now
    from pfscope.watch.book import Book

NOW: Final = "/api/v1/now"
LIVE: Final = "/api/v1/live"
_PATIENCE_S: Final = 40.0
"""A server says something every 15 seconds."""
_LONGEST: Final = 1 << 28
Words = Mapping[str, Sequence[str]]
Document = dict[str, Any]


class Source(Protocol):
    """Answers what happens, in the words of `/api/v1/now`."""

    where: str
    """What it is called."""
    pushes: bool
    """Whether it tells what is new by itself."""

    def now(self, words: Words) -> Document:
        """Return what happens, or happened at a moment."""

    def live(self, words: Words) -> Iterator[Document]:
        """Give every picture as it comes, until it is cut off."""

    def incidents(self, words: Words) -> list[Document]:
        """Return incidents."""

    def cut(self) -> None:
        """End what comes live, from any thread."""

    def close(self) -> None:
        """Let go of it."""


class ServerSource:
    """A server over HTTP."""

    pushes = True

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.where = connection.url
        self._guard = threading.Lock()
        self._coming: HTTPResponse | None = None

    def now(self, words: Words) -> Document:
        """Ask once."""
        return self._read(self._connection.get(_question(NOW, words)))

    def live(self, words: Words) -> Iterator[Document]:
        """Listen until the server ends it, which is an error, or it is cut off."""
        path = _question(LIVE, words)
        with self._connection.stream(path, "text/event-stream", patience_s=_PATIENCE_S) as coming:
            with self._guard:
                self._coming = coming
            try:
                while line := coming.readline(_LONGEST):
                    if line.startswith(b"data: "):
                        yield self._read(line[6:])
            finally:
                with self._guard:
                    self._coming = None
        raise InputError(f"{self.where} ended the connection")

    def cut(self) -> None:
        """Shut the connection, so that who reads sees its end at once."""
        with self._guard:
            if self._coming is None or self._coming.isclosed():
                return
            try:
                with socket.socket(fileno=os.dup(self._coming.fileno())) as same:
                    same.shutdown(socket.SHUT_RDWR)
            except OSError:  # it has ended meanwhile
                return

    def incidents(self, words: Words) -> list[Document]:
        """Ask the server what its watch saw."""
        told = self._read(self._connection.get(_question(INCIDENTS, words))).get("incidents")
        if not isinstance(told, list):
            raise self._strange()
        return told

    def close(self) -> None:
        """End what comes."""
        self.cut()

    def _read(self, body: bytes) -> Document:
        try:
            told = json.loads(body)
        except (ValueError, RecursionError):
            told = None
        if not isinstance(told, dict):
            raise self._strange()
        return told

    def _strange(self) -> InputError:
        return InputError(f"{self.where} does not answer as pfscope does")


class RecordedSource:
    """A data directory. It is opened with the first question, by the thread that asks."""

    pushes = False

    def __init__(self, directory: Path, config: Path | None = None) -> None:
        self.where = str(directory)
        self._directory, self._config = directory, config
        self._now: Now | None = None
        self._book: Book | None = None

    def now(self, words: Words) -> Document:
        """Work it out from the store."""
        from pfscope.now.wish import Wish
        from pfscope.opening import open_now

        if self._now is None:
            self._now = open_now(self._directory, self._config)
        return self._now.document(Wish.read(words))

    def live(self, words: Words) -> Iterator[Document]:
        """Give the newest picture: nothing else comes."""
        yield self.now(words)

    def incidents(self, words: Words) -> list[Document]:
        """Return what a server that had this directory saw."""
        from pfscope.watch.book import FOLDER, Book
        from pfscope.watch.wanted import Wanted
        from pfscope.watch.written import row

        if not (self._directory / FOLDER).is_dir():
            raise InputError(f"{self.where} was never watched by a server")
        self._book = self._book or Book(self._directory)
        wanted = Wanted.read(words, 0)
        return [row(record) for record in self._book.all() if wanted.fits(record)]

    def cut(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """The store is read alone, and let go with the program."""


def _question(path: str, words: Words) -> str:
    pairs = [(name, value) for name, values in words.items() for value in values]
    return f"{path}?{urlencode(pairs, errors='backslashreplace')}"
