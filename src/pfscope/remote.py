"""A server that answers questions, asked over HTTP with the standard library alone.

`unix:///path` is the server's socket on this machine: there the kernel says who asks.

The token comes from a file of ours or from `$PFSCOPE_TOKEN`, goes to the named server alone, never
in the clear over a network, and stands in no message. Nothing is followed to another place, and an
answer is bounded. What the server says in text is shown as printable characters only.
"""

import ipaddress
import json
import os
import re
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode, urlsplit

from pfscope.agent.errors import AgentError
from pfscope.agent.options import read_token
from pfscope.errors import InputError, PfscopeError, UsageError
from pfscope.untrusted import printable

if TYPE_CHECKING:
    from pfscope.query.results import Result

VARIABLE: Final = "PFSCOPE_TOKEN"
FORMS: Final = "http(s)://host[:port][/path] or unix:///path"
INCIDENTS: Final = "/api/v1/incidents"
_TOKEN = re.compile(r"[!-~]{1,4096}")
_URL = re.compile(r"https?://[^\s?#@]+", re.IGNORECASE)
_SOCKET = re.compile(r"unix://(/[^\0]+)", re.IGNORECASE)
_ANSWER_BYTES: Final = 1 << 30
_ERROR_BYTES: Final = 64 << 10
_PATIENCE_S: Final = 120.0


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows nothing: a token would go along."""

    def redirect_request(self, *_told: Any) -> None:
        """Leave the answer as it is."""


class _Local(urllib.request.HTTPHandler):
    """Reaches a server through its socket on this machine."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path

    def http_open(self, request: urllib.request.Request) -> HTTPResponse:
        """Open a connection to the socket instead of one to a host."""
        path = self._path

        class Through(HTTPConnection):
            def connect(self) -> None:
                self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                self.sock.settimeout(self.timeout)
                self.sock.connect(path)

        return self.do_open(Through, request)


class Connection:
    """The way to one server."""

    def __init__(
        self, url: str, token_file: str | Path | None = None, ca_file: str | Path | None = None
    ) -> None:
        local = _SOCKET.fullmatch(url)
        if not local and (not _URL.fullmatch(url) or not urlsplit(url).hostname):
            raise UsageError(f"{url!r} is not of the form {FORMS}")
        self.url = url.rstrip("/")
        self._root = "http://localhost" if local else self.url
        token = _token(token_file)
        if token and not local and not _is_private(url):
            raise UsageError(f"{url}: a token is not sent over plain http to another machine")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({}), _Stay()]
        if local:
            handlers.append(_Local(local[1]))
        elif url.lower().startswith("https"):
            handlers.append(urllib.request.HTTPSHandler(context=_tls(ca_file)))
        self._opener = urllib.request.build_opener(*handlers)

    def get(self, path: str, accept: str = "application/json") -> bytes:
        """Return the body of an answer; whatever is no answer is raised as what it is."""
        with self.stream(path, accept) as response:
            return _bounded(response, _ANSWER_BYTES)

    def post(self, path: str) -> bytes:
        """Ask for something to be done, and return the body of the answer."""
        with self.stream(path, "application/json", "POST") as response:
            return _bounded(response, _ANSWER_BYTES)

    @contextmanager
    def stream(
        self,
        path: str,
        accept: str = "*/*",
        method: str = "GET",
        *,
        patience_s: float = _PATIENCE_S,
    ) -> Iterator[HTTPResponse]:
        """Give the answer to be read piece by piece; nothing for so long is an error."""
        request = urllib.request.Request(  # noqa: S310 - http and https only, see above
            self._root + path, headers={**self._headers, "Accept": accept}, method=method
        )
        try:
            with self._opener.open(request, timeout=patience_s) as response:
                yield response
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(self.url, error.code, error.read(_ERROR_BYTES)) from None
        except urllib.error.URLError as error:
            raise InputError(f"{self.url} does not answer: {_reason(error.reason)}") from None
        except (OSError, HTTPException) as error:
            raise InputError(f"{self.url} broke off: {_reason(error)}") from None


class RemoteSource:
    """Asks a server, as `query.local.LocalSource` asks a store.

    What it takes to read answers is imported with the first question: who only needs a connection
    does not wait for it.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def ask(self, name: str, words: Mapping[str, Sequence[str]]) -> "Result":
        """Return the answer to a question put in words."""
        from pfscope.query.keys import KEYS
        from pfscope.query.questions import find_question
        from pfscope.query.request import as_stored
        from pfscope.query.written import FORMATS, from_arrow

        pairs = [(key, as_stored(value) if key in KEYS else value)
                 for key, values in words.items() for value in values]  # fmt: skip
        path = f"/api/v1/query/{find_question(name).name}"
        question = f"{path}?{urlencode(pairs, errors='backslashreplace')}"
        data = self._connection.get(question, FORMATS["arrow"][0])
        try:
            return from_arrow(name, data)
        except (ValueError, RecursionError):
            raise self._strange() from None

    def incidents(self, words: Mapping[str, Sequence[str]]) -> "Result":
        """Return the incidents that the server saw."""
        from pfscope.watch.written import as_result

        pairs = [(name, value) for name, values in words.items() for value in values]
        question = f"{INCIDENTS}?{urlencode(pairs, errors='backslashreplace')}"
        told = self._read(self._connection.get(question))
        try:
            return as_result(told["incidents"], dict(told["about"]))
        except (ValueError, KeyError, TypeError):
            raise self._strange() from None

    def incident(self, name: str) -> dict[str, Any]:
        """Return one of them with its evidence."""
        return self._read(self._connection.get(_path(name)))

    def acknowledge(self, name: str, author: str, comment: str) -> dict[str, Any]:
        """Say that somebody takes care of an incident, and return it."""
        words = urlencode({"author": author, "comment": comment}, errors="backslashreplace")
        path = f"{_path(name)}/acknowledge?{words}"
        return self._read(self._connection.post(path))

    def _read(self, body: bytes) -> dict[str, Any]:
        try:
            told = json.loads(body)
        except (ValueError, RecursionError):
            told = None
        if not isinstance(told, dict):
            raise self._strange()
        return told

    def _strange(self) -> InputError:
        return InputError(f"{self._connection.url} does not answer as pfscope does")

    def close(self) -> None:
        """Nothing is held between two questions."""


def _path(name: str) -> str:
    """Return where an incident is told."""
    return f"{INCIDENTS}/{quote(name, safe='', errors='backslashreplace')}"


def _token(token_file: str | Path | None) -> str:
    """Return the token to send; empty: none."""
    if token_file is None:
        token = os.environ.get(VARIABLE)
        if token is not None and not _TOKEN.fullmatch(token):
            raise UsageError(f"${VARIABLE} must be printable ASCII without blanks, or not be set")
        return token or ""
    try:
        return str(read_token(str(token_file)))
    except AgentError as error:
        raise UsageError(str(error)) from None


def _is_private(url: str) -> bool:
    """Tell whether nobody on the way can read what is sent."""
    parts = urlsplit(url)
    if parts.scheme.lower() == "https" or parts.hostname == "localhost":
        return True
    try:
        return ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False


def _tls(ca_file: str | Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise InputError(f"{ca_file}: {error.strerror or error}") from None


def _bounded(response: HTTPResponse, limit: int) -> bytes:
    data = response.read(limit + 1)
    if len(data) > limit:
        raise InputError(f"the answer exceeds {limit >> 20} MB: ask for less at a time")
    return data


def _refusal(url: str, status: int, body: bytes) -> PfscopeError:
    """Return a refusal as the error that it would be here."""
    if 300 <= status < 400:
        return InputError(f"{url} points elsewhere (status {status}): correct the URL")
    try:
        error = json.loads(body)["error"]
        code, message, hint = (printable(str(error[key])) for key in ("code", "message", "hint"))
    except (ValueError, KeyError, TypeError, RecursionError):
        return InputError(f"{url} answered with status {status}, which no pfscope server does")
    if code == "question":
        return UsageError(message)
    if code == "no-data":
        return InputError(message)
    return InputError(f"{url}: {message}; {hint}")


def _reason(error: Any) -> str:
    return printable(getattr(error, "strerror", None) or str(error) or type(error).__name__)
