"""Posts JSON over HTTP: to the place that was named and nowhere else, bounded in time and answer.

A URL may be a secret in itself: errors name its host alone.
"""

import ipaddress
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any, Final
from urllib.parse import urlsplit

from pfscope.untrusted import printable
from pfscope.watch.alerts.notifiers.base import DeliveryError

_ANSWER: Final = 4096
_TOLD: Final = 120


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows nothing: what is sent may be a secret."""

    def redirect_request(self, *_told: Any) -> None:
        """Leave the answer as it is."""


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    timeout_us: int,
    ca_file: str = "",
    proxy: str = "",
) -> str:
    """Post, and return how it was answered; all but success is a `DeliveryError`."""
    host = _host(url)
    if "Authorization" in headers and not _is_private(url):
        raise DeliveryError(f"{host}: a token is not sent over plain http to another machine")
    request = urllib.request.Request(  # noqa: S310 - http and https only, see _host
        url, body, {"Content-Type": "application/json", "User-Agent": "pfscope", **headers}
    )
    try:
        with _opener(url, ca_file, proxy).open(request, timeout=timeout_us / 1e6) as response:
            response.read(_ANSWER)
            return f"{host} answered {response.status}"
    except urllib.error.HTTPError as error:
        with error:
            said = printable(error.read(_ANSWER).decode("utf-8", "replace").split("\n")[0])
        said = "" if url in said else said[:_TOLD]
        raise DeliveryError(f"{host} answered {error.code} {said}".rstrip()) from None
    except urllib.error.URLError as error:
        raise DeliveryError(f"{host} does not answer: {_reason(error.reason)}") from None
    except (OSError, HTTPException) as error:
        raise DeliveryError(f"{host} broke off: {_reason(error)}") from None


def _host(url: str) -> str:
    """Return the name of the machine; a URL that is none is told without showing it."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        host = None
    if host is None or parts.scheme not in ("http", "https") or not url.isprintable():
        raise DeliveryError("the URL is not of the form http(s)://host[:port]/path")
    return printable(host)


def _is_private(url: str) -> bool:
    """Tell whether nobody on the way can read what is sent."""
    parts = urlsplit(url)
    if parts.scheme == "https" or parts.hostname == "localhost":
        return True
    try:
        return ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False


def _opener(url: str, ca_file: str, proxy: str) -> urllib.request.OpenerDirector:
    proxies = dict.fromkeys(("http", "https"), proxy) if proxy else {}
    handlers: list[urllib.request.BaseHandler] = [_Stay(), urllib.request.ProxyHandler(proxies)]
    if url.startswith("https"):
        try:
            context = ssl.create_default_context(cafile=ca_file or None)
        except OSError as error:
            raise DeliveryError(f"{ca_file}: {error.strerror or error}") from None
        handlers.append(urllib.request.HTTPSHandler(context=context))
    return urllib.request.build_opener(*handlers)


def _reason(error: Any) -> str:
    return printable(getattr(error, "strerror", None) or str(error) or type(error).__name__)
