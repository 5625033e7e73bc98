"""Who is signed in: sessions in memory, bounded in number and time, each known by a secret cookie.

Only a digest of the secret is kept. A session ends with its time, with its token, with the server,
and when its owner signs out; the oldest makes room where there are too many.
"""

import hashlib
import hmac
import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

from pfscope.server.errors import Refusal
from pfscope.server.tokens import Token, hash_of

MOST: Final = 10_000
MOST_OF_ONE: Final = 20
"""Sessions of one token."""
TRIES: Final = 10
"""Failures of one address in `TRIES_S`, after which it has to wait."""
TRIES_S: Final = 60.0
_ADDRESSES: Final = 4096
Clock = Callable[[], float]


class Session(NamedTuple):
    """Somebody who signed in."""

    token: Token
    ends_s: float


class Sessions:
    """All that are signed in; called by the event loop alone."""

    def __init__(self, length_s: float, clock: Clock = time.monotonic) -> None:
        self.length_s = length_s
        self._clock = clock
        self._known: OrderedDict[str, Session] = OrderedDict()
        self._of: Counter[Token] = Counter()

    def begin(self, token: Token) -> str:
        """Sign somebody in and return the secret of the session."""
        if self._of[token] >= MOST_OF_ONE:
            self._drop(next(key for key, known in self._known.items() if known.token == token))
        if len(self._known) >= MOST:
            self._drop(next(iter(self._known)))
        secret = secrets.token_urlsafe(32)
        self._known[hash_of(secret)] = Session(token, self._clock() + self.length_s)
        self._of[token] += 1
        return secret

    def find(self, secret: str) -> Session | None:
        """Return the session of a secret, while it lasts."""
        session = self._known.get(hash_of(secret)) if secret else None
        if session is not None and session.ends_s <= self._clock():
            self.end(secret)
            return None
        return session

    def end(self, secret: str) -> None:
        """Sign somebody out."""
        self._drop(hash_of(secret))

    def _drop(self, key: str) -> None:
        session = self._known.pop(key, None)
        if session is not None:
            self._of[session.token] -= 1
            if not self._of[session.token]:
                del self._of[session.token]

    def __len__(self) -> int:
        return len(self._known)


class Tries:
    """Slows down who tries one token after another: so many failures of an address in a minute."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._failed: OrderedDict[str, list[float]] = OrderedDict()

    def check(self, address: str) -> None:
        """Refuse an address that failed too often lately."""
        since = self._clock() - TRIES_S
        lately = [moment for moment in self._failed.get(address, ()) if moment > since]
        if len(lately) >= TRIES:
            wait_s = int(lately[0] - since) + 1
            hint = f"wait {wait_s} s"
            headers = {"Retry-After": str(wait_s)}
            raise Refusal(429, "tries", "too many tokens were wrong", hint, headers)

    def failed(self, address: str) -> None:
        """Note a failure."""
        since = self._clock() - TRIES_S
        lately = [moment for moment in self._failed.pop(address, ()) if moment > since]
        self._failed[address] = [*lately, self._clock()]
        if len(self._failed) > _ADDRESSES:
            self._failed.popitem(last=False)


class Marks:
    """Marks that prove that a request was made by a page of ours, one for each who is signed in."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def of(self, who: str) -> str:
        """Return the mark of somebody."""
        return hmac.new(self._key, who.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()

    def fits(self, who: str, mark: str) -> bool:
        """Tell whether it is the mark of somebody."""
        return hmac.compare_digest(self.of(who).encode(), mark.encode("utf-8", "surrogatepass"))
