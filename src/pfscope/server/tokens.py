"""Tokens: who may send, and for which servers, and who may ask; kept hashed in one file of ours.

`tokens.json` holds `{"version": 3, "tokens": [{"name", "sha256", "servers", "created", "reads",
"role", "users"}]}`. Those of version 1 have no `reads` and may not ask; a `role` makes one a
person's, who is these `users` of the file system, or those that the name stands for. A secret is
256 random bits, shown once; its plain SHA-256 is kept. That is enough: slow hashes protect secrets
that can be guessed, and nobody guesses one of 2²⁵⁶, while a fast one costs a request nothing. Every
known hash is compared, each in constant time.

The file is read again when it changes. No file means that no token was ever made; an empty list
means that all were revoked, and nobody may enter. A file that cannot be read lets nobody in.
"""

import fcntl
import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, NamedTuple

from pfscope.errors import InputError, UsageError

FILE: Final = "tokens.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_GLOB = re.compile(r"[A-Za-z0-9._*?\[\]!-]{1,64}")
_HASH = re.compile(r"[0-9a-f]{64}")
_SHORTEST_SECRET: Final = 32
ROLES: Final = ("", "user", "staff", "admin")


class Token(NamedTuple):
    """Who holds it, for which servers it may speak, and whether it may ask who did what."""

    name: str
    sha256: str
    servers: tuple[str, ...]
    created: str
    reads: bool = False
    role: str = ""
    """Of a person: admin, staff or user; empty: it is a machine's."""
    users: tuple[str, ...] = ()
    """Whom of the file system's users the person is, where that was said."""

    def speaks_for(self, server: str) -> bool:
        """Whether frames of this server may come with it."""
        return any(fnmatchcase(server, glob) for glob in self.servers)


def hash_of(secret: str) -> str:
    """Return what is kept of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def token_from_secret(name: str, secret: str, servers: tuple[str, ...]) -> Token:
    """Return the token of a secret that somebody else made; a weak one is a `UsageError`."""
    if len(secret) < _SHORTEST_SECRET:
        what = "empty" if not secret else "too short"
        raise UsageError(f"{name} is {what}: it must be {_SHORTEST_SECRET} characters or more")
    return Token(name, hash_of(secret), servers, "")


class TokenFile:
    """The file of tokens in a data directory."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / FILE

    def read(self) -> list[Token] | None:
        """Return the tokens, or None where none was ever made; a bad file is an `InputError`."""
        try:
            with self.path.open("rb") as file:
                mode = os.fstat(file.fileno()).st_mode
                data = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(f"cannot read {self.path}: {error.strerror}") from None
        if mode & 0o077:
            raise InputError(f"others can read {self.path}; chmod 600 it")
        try:
            return [_token(item) for item in json.loads(data)["tokens"]]
        except (ValueError, KeyError, TypeError, RecursionError):
            hint = "restore it, or delete it to begin anew"
            raise InputError(f"{self.path} does not hold tokens; {hint}") from None

    def add(
        self,
        name: str,
        servers: tuple[str, ...] = (),
        *,
        reads: bool = False,
        role: str = "",
        users: tuple[str, ...] = (),
    ) -> str:
        """Make a token and return its secret, which is kept nowhere."""
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r}: at most 64 letters, digits, dots, dashes, underscores")
        for glob in servers:
            if not _GLOB.fullmatch(glob):
                raise UsageError(f"{glob!r} is no server's name or pattern such as 'oss*'")
        secret = f"pfscope_{secrets.token_urlsafe(32)}"
        created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        with self._changing() as tokens:
            if any(token.name == name for token in tokens):
                raise UsageError(f"there is a token {name!r} already; revoke it first")
            tokens.append(Token(name, hash_of(secret), servers, created, reads, role, users))
        return secret

    def holders(self, *, people: bool) -> list[Token]:
        """Return the tokens of people, or those of machines."""
        return [token for token in self.read() or [] if bool(token.role) == people]

    def revoke(self, name: str, *, person: bool = False) -> None:
        """Forget the token of a machine, or of a person; an unknown one is a `UsageError`."""
        with self._changing() as tokens:
            kept = [t for t in tokens if t.name != name or bool(t.role) != person]
            if len(kept) == len(tokens):
                raise UsageError(f"there is no {'user' if person else 'token'} {name!r}")
            tokens[:] = kept

    @contextmanager
    def _changing(self) -> Iterator[list[Token]]:
        """Give the tokens to change; the file is replaced as a whole, by one of us at a time."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        directory = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(directory, fcntl.LOCK_EX)
            tokens = self.read() or []
            yield tokens
            self._write(tokens)
            os.fsync(directory)
        finally:
            os.close(directory)

    def _write(self, tokens: list[Token]) -> None:
        content = {"version": 3, "tokens": [token._asdict() for token in tokens]}
        beside = self.path.with_suffix(".new")
        beside.unlink(missing_ok=True)
        descriptor = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(json.dumps(content, indent=1) + "\n")
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self.path)


def _token(item: Any) -> Token:
    reads, role = item.get("reads", False), item.get("role", "")
    servers, users = tuple(item["servers"]), tuple(item.get("users", ()))
    token = Token(item["name"], item["sha256"], servers, item["created"], reads, role, users)
    texts = (token.name, token.sha256, token.created, role, *servers, *users)
    if not all(isinstance(text, str) for text in texts) or not isinstance(reads, bool):
        raise TypeError
    if not _HASH.fullmatch(token.sha256) or token.sha256 == hash_of(""):
        raise ValueError
    if role not in ROLES:
        raise ValueError
    return token


class Gate:
    """Who holds a secret, as the file says now; open to all only where that was allowed."""

    def __init__(
        self,
        file: TokenFile,
        further: tuple[Token, ...] = (),
        may_be_open: bool = False,
        local: bool = True,
        told: Callable[[str], None] = lambda _text: None,
    ) -> None:
        self._file = file
        self._further = further
        self._told = told
        self.local = local
        """Whether it stands on loopback, where nobody comes by another name."""
        self._seen = self._state()
        self._tokens = file.read()
        self._may_be_open = may_be_open and self._tokens is None and not further

    @property
    def open(self) -> bool:
        """Whether everybody may enter: no token was ever made."""
        self._refresh()
        return self._may_be_open

    @property
    def count(self) -> int:
        """Tokens that are known."""
        self._refresh()
        return len(self._tokens or ()) + len(self._further)

    def knows(self, token: Token) -> bool:
        """Tell whether a token is as good as it was."""
        self._refresh()
        return token in (self._tokens or ()) or token in self._further

    def holder(self, secret: str) -> Token | None:
        """Return the token of a secret; nothing at all is never one."""
        self._refresh()
        if not secret:
            return None
        found = None
        digest = hash_of(secret)
        for token in (*(self._tokens or ()), *self._further):
            if hmac.compare_digest(token.sha256, digest):
                found = token
        return found

    def _state(self) -> tuple[int, ...] | None:
        try:
            status = self._file.path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino

    def _refresh(self) -> None:
        state = self._state()
        if state == self._seen:
            return
        self._seen = state
        # From the first token on, only a restart can open the gate again.
        self._may_be_open = False
        try:
            self._tokens = self._file.read()
            self._told(f"{self._file.path}: {len(self._tokens or ())} tokens now")
        except InputError as error:
            self._tokens = None
            self._told(f"nobody may enter: {error}")
