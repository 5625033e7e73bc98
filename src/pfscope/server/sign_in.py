"""Signing in and out, and who one is: `POST /sign-in`, `POST /sign-out`, `GET /api/v1/me`.

A token that is signed in with becomes a cookie that no script can read and that no other site can
make a browser send.
"""

import asyncio
import json
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from pfscope.query.engine import Queryable
from pfscope.server.errors import Refusal
from pfscope.server.guard import Json
from pfscope.server.reception import COOKIE, SAFE_COOKIE, Asker, Reception, address_of, cookie_of
from pfscope.server.sessions import Tries

ME: Final = "/api/v1/me"
SIGN_IN: Final = "/sign-in"
SIGN_OUT: Final = "/sign-out"
BODY_BYTES: Final = 8192
_BODY_S: Final = 10.0
_SEEN: Final = """
    SELECT DISTINCT "user" FROM series WHERE "user" IN (SELECT unnest(?::VARCHAR[])) LIMIT 100
"""


class SignIn:
    """The routes."""

    def __init__(self, reception: Reception, store: Queryable) -> None:
        self._reception, self._store = reception, store
        self._tries = Tries()

    def routes(self) -> list[Route]:
        """Return all of them."""
        return [
            Route(ME, self._me, methods=["GET"]),
            Route(SIGN_IN, self._sign_in, methods=["POST"]),
            Route(SIGN_OUT, self._sign_out, methods=["POST"]),
        ]

    async def _me(self, request: Request) -> Response:
        asker = self._reception.asker(request)
        return Json(await self._told(asker))

    async def _told(self, asker: Asker) -> dict[str, Any]:
        user = await run_in_threadpool(self._user, asker.users) if asker.users else None
        return {
            "role": asker.role.value,
            "name": asker.name,
            "user": user,
            "csrf": asker.mark,
            "session": asker.how == "session",
            "plain": asker.how == "open",
        }

    def _user(self, users: tuple[str, ...]) -> str:
        """Return the one of somebody's names that the records have."""
        seen = set(self._store.query(_SEEN, [list(users)]).column("user").to_pylist())
        return next((user for user in users if user in seen), users[0])

    async def _sign_in(self, request: Request) -> Response:
        self._reception.check_origin(request)
        address = address_of(request)
        self._tries.check(address)
        secret = await _token_in(request)
        token = self._reception.gate.holder(secret)
        if token is None:
            self._tries.failed(address)
            hint = "an admin makes one with `pfscope serve user add NAME`"
            raise Refusal(401, "token", "the token is unknown", hint)
        if not (token.role or token.reads):
            raise Refusal(403, "not-allowed", "the token is a machine's", "use one of your own")
        sessions = self._reception.sessions
        sessions.end(cookie_of(request))
        answer = Response(status_code=204)
        _set_cookie(answer, request, sessions.begin(token), int(sessions.length_s))
        return answer

    async def _sign_out(self, request: Request) -> Response:
        asker = self._reception.asker(request)
        self._reception.check_mark(request, asker)
        self._reception.sessions.end(cookie_of(request))
        answer = Response(status_code=204)
        for name in (COOKIE, SAFE_COOKIE):
            if name in request.cookies:
                answer.delete_cookie(
                    name, secure=name == SAFE_COOKIE, httponly=True, samesite="strict"
                )
        return answer


def _set_cookie(answer: Response, request: Request, secret: str, length_s: int) -> None:
    # A proxy may speak TLS for us: what the browser calls us says so.
    origin = request.headers.get("origin", "").lower()
    safe = request.url.scheme == "https" or origin.startswith("https:")
    answer.set_cookie(
        SAFE_COOKIE if safe else COOKIE,
        secret,
        max_age=length_s,
        path="/",
        secure=safe,
        httponly=True,
        samesite="strict",
    )


async def _token_in(request: Request) -> str:
    """Return the token in a body of JSON, which no form of another site can send."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refusal(415, "type", "this takes application/json", 'send {"token": "…"}')
    try:
        token = json.loads(await _body(request))["token"]
    except (ValueError, KeyError, TypeError, RecursionError):
        token = None
    if not isinstance(token, str):
        raise Refusal(400, "parameter", "the body has no token", 'send {"token": "…"}')
    return token


async def _body(request: Request) -> bytes:
    body = b""
    try:
        async with asyncio.timeout(_BODY_S):
            async for piece in request.stream():
                body += piece
                if len(body) > BODY_BYTES:
                    told = f"the body exceeds {BODY_BYTES} bytes"
                    raise Refusal(413, "size", told, "send a token alone")
    except TimeoutError:
        raise Refusal(408, "slow", "the body did not arrive in time") from None
    except ClientDisconnect:
        raise Refusal(400, "broken-off", "the body broke off") from None
    return body
