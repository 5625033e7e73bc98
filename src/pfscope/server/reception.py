"""Who asks: found out once for every request, by token, session, proxy, socket, or not at all.

What goes before: a token that is sent, then the kernel's word about a local socket, a proxy's
header, a cookie. A browser sends a cookie, and what makes a proxy say a name, for any page that
makes it: so requests that change something have to carry a mark that only our page knows.
"""

import os
import re
from typing import Final, NamedTuple

from starlette.requests import Request

from pfscope.privacy.audience import Audience
from pfscope.privacy.people import NAME, Role, name_of_uid, role_of, users_of
from pfscope.privacy.settings import PSEUDONYMS, Privacy
from pfscope.server.errors import Refusal
from pfscope.server.peers import UNIX, uid_of
from pfscope.server.sessions import Marks, Sessions
from pfscope.server.tokens import Gate, Token

COOKIE: Final = "pfscope"
SAFE_COOKIE: Final = f"__Host-{COOKIE}"
"""Over TLS: no other host and no plain connection can set a cookie of this name."""
MARK: Final = "x-csrf-token"
_ANYBODY: Final = Token("anybody", "", ("*",), "", reads=True)
_LOCAL_HOST = re.compile(r"(localhost|127\.[0-9.]+|\[::1\])", re.IGNORECASE)
_PORT = re.compile(r":[0-9]{1,5}$")


class Asker(NamedTuple):
    """Somebody who asks."""

    role: Role
    name: str | None = None
    """None: nobody said who it is."""
    users: tuple[str, ...] = ()
    """Whom of the file system's users it is."""
    how: str = "nobody"
    """How that is known: `open`, `token`, `socket`, `proxy`, `session`, or `nobody` said it."""
    mark: str | None = None
    """What must come with requests that change something; None: nothing need."""


OPEN: Final = Asker(Role.ADMIN, how="open")


class Reception:
    """Finds out who asks, and refuses whoever may not."""

    def __init__(self, gate: Gate, privacy: Privacy) -> None:
        self.gate = gate
        self.privacy = privacy
        self.sessions = Sessions(privacy.session_us / 1e6)
        self._marks = Marks()

    def sender(self, request: Request) -> Token:
        """Return who sends frames, which machines do."""
        self.check_origin(request)
        if self._is_open and "authorization" not in request.headers:
            return _ANYBODY
        return self._holder(request)

    def asker(self, request: Request) -> Asker:
        """Return who asks, if anybody may see anything."""
        self.check_origin(request)
        found = self._asker(request)
        if found is not None:
            return found
        self._check_local(request)
        if self.privacy.anonymous == PSEUDONYMS:
            return Asker(Role.ANONYMOUS)
        raise self._refused("the token is missing")

    def audience(self, request: Request) -> Audience:
        """Return what whoever asks may see by name."""
        found = self.asker(request)
        return Audience.of(found.role, found.users, self.privacy)

    def seer(self, request: Request) -> None:
        """Refuse whoever does not see everybody by name."""
        if not self.audience(request).everything:
            hint = "GET /api/v1/query lists what can be asked"
            raise Refusal(403, "not-allowed", "this is for those who see all names", hint)

    def changer(self, request: Request) -> Asker:
        """Return who changes something, which admins and staff may."""
        found = self.asker(request)
        self.check_mark(request, found)
        if found.role not in (Role.ADMIN, Role.STAFF):
            raise Refusal(
                403, "not-allowed", "only admins and staff may do this", "ask one of them"
            )
        return found

    def operator(self, request: Request) -> None:
        """Refuse whoever is neither an admin nor a machine with a token."""
        self.check_origin(request)
        if "authorization" in request.headers and not self._holder(request).role:
            return
        if self.asker(request).role is not Role.ADMIN:
            raise Refusal(403, "not-allowed", "only admins and machines may see this")

    def check_mark(self, request: Request, asker: Asker) -> None:
        """Refuse what a page of another site could have made a browser send."""
        if asker.mark is None:
            return
        if not self._marks.fits(_owner(asker, request), request.headers.get(MARK, "")):
            hint = "GET /api/v1/me tells the value of the header X-CSRF-Token"
            raise Refusal(403, "csrf", "the request does not show that our page sent it", hint)

    def check_origin(self, request: Request) -> None:
        """Refuse what a page of another site made somebody's browser ask."""
        headers = request.headers
        origin, host = headers.get("origin"), headers.get("host", "")
        foreign = origin is not None and origin.partition("://")[2] != host
        if foreign or headers.get("sec-fetch-site", "none") in ("cross-site", "same-site"):
            hint = "no page of another site may use this server"
            raise Refusal(403, "origin", "the request comes from another site", hint)
        name = _PORT.sub("", host).lower()
        local = not name or _LOCAL_HOST.fullmatch(name)
        if self.privacy.hosts and not local and name not in map(str.lower, self.privacy.hosts):
            hint = "[privacy] hosts names those by which it may be called"
            raise Refusal(403, "host", "the server is not called so", hint)
        if self._is_open:
            self._check_local(request)

    def _check_local(self, request: Request) -> None:
        """Refuse another name than this machine's own: a page could have made one that leads here.

        Where tokens or people are asked for, such a page knows neither, and gets no cookie.
        """
        host = _PORT.sub("", request.headers.get("host", ""))
        strange = host and not _LOCAL_HOST.fullmatch(host)
        if strange and self.gate.local and not (self.privacy.hosts or self.privacy.proxy_header):
            hint = "use localhost or 127.0.0.1, or make tokens"
            raise Refusal(
                403, "host", "without tokens only this machine's own names are served", hint
            )

    @property
    def _is_open(self) -> bool:
        return self.gate.open and not self.privacy.given

    def _asker(self, request: Request) -> Asker | None:
        proxied = self._proxied(request)
        scheme = request.headers.get("authorization", "").partition(" ")[0].lower()
        # What browsers send for the proxy to look at, it may pass on.
        if "authorization" in request.headers and (proxied is None or scheme == "bearer"):
            return self._person(self._holder(request), "token")
        found = self._peer(request) or proxied or self._session(request)
        if found is not None:
            return found
        return OPEN if self._is_open else None

    def _holder(self, request: Request) -> Token:
        header = request.headers.get("authorization")
        scheme, _space, secret = (header or "").partition(" ")
        token = self.gate.holder(secret.strip()) if scheme.lower() == "bearer" else None
        if token is None:
            missing = header is None
            raise self._refused(
                "the token is missing" if missing else "the token is empty or unknown"
            )
        return token

    def _refused(self, what: str) -> Refusal:
        if self._is_open:
            what = "the token is unknown: no token was ever made here"
        hint = "Authorization: Bearer TOKEN; make one with `pfscope serve token add`, or sign in"
        return Refusal(401, "token", what, hint, {"WWW-Authenticate": "Bearer"})

    def _person(self, token: Token, how: str) -> Asker:
        if token.role:
            users = token.users or users_of(token.name, self.privacy)
            return Asker(Role(token.role), token.name, users, how)
        if token.reads:
            return Asker(Role.ADMIN, token.name, (), how)
        hint = "make a token that may, with `pfscope serve token add NAME --read`"
        raise Refusal(403, "not-allowed", "the token may not ask who did what", hint)

    def _peer(self, request: Request) -> Asker | None:
        uid = uid_of(request)
        if uid is None:
            return None
        name = name_of_uid(uid)
        trusted = self.privacy.root_is_admin and uid in (0, os.geteuid())
        role = Role.ADMIN if trusted else role_of(name, self.privacy)
        known = (str(uid),) if name.isdecimal() else (str(uid), name)
        users = self.privacy.users.get(name) or known
        return Asker(role, name, users, "socket")

    def _proxied(self, request: Request) -> Asker | None:
        """Return whom a proxy names; nobody else is believed."""
        header, client = self.privacy.proxy_header, request.client
        if not header or client is None or client.host not in self.privacy.proxy_from:
            return None
        names = request.headers.getlist(header)
        if not names or names == [""]:
            return None
        if len(names) > 1 or not NAME.fullmatch(names[0]):
            hint = f"the proxy must send {header} once, and drop what browsers send"
            raise Refusal(401, "proxy", "the proxy names nobody who could be a user", hint)
        who = Asker(
            role_of(names[0], self.privacy), names[0], users_of(names[0], self.privacy), "proxy"
        )
        return who._replace(mark=self._marks.of(_owner(who, request)))

    def _session(self, request: Request) -> Asker | None:
        secret = cookie_of(request)
        session = self.sessions.find(secret)
        if session is None:
            return None
        if not self.gate.knows(session.token):
            self.sessions.end(secret)
            return None
        who = self._person(session.token, "session")
        return who._replace(mark=self._marks.of(_owner(who, request)))


def _owner(asker: Asker, request: Request) -> str:
    """Return whose a mark is: a session's, or a name's."""
    return f"session {cookie_of(request)}" if asker.how == "session" else f"name {asker.name}"


def cookie_of(request: Request) -> str:
    """Return the secret of a session; over TLS, of one that was begun over TLS."""
    safe = request.cookies.get(SAFE_COOKIE, "")
    if safe or request.url.scheme == "https":
        return safe
    return request.cookies.get(COOKIE, "")


def address_of(request: Request) -> str:
    """Return from where a request came."""
    uid = uid_of(request)
    return f"{UNIX} {uid}" if uid is not None else (request.client.host if request.client else "")
