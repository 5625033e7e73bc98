"""Pseudonyms: names that stand for names, the same all day, and no way back without the secret.

`DIR/privacy.key` holds 64 hexadecimal digits, ours alone. Each UTC day has a key of its own,
derived from it; a pseudonym is the kind and ten digits of HMAC-SHA256, keyed by the day, over kind,
owner and value. The owner is in it because values can be chosen: who sends a job id of somebody
else, and looks under which pseudonym it appears, must not learn that person's.
"""

# ruff: noqa: S608 - what is put together here are names of the schema; values are parameters

import hashlib
import hmac
import logging
import os
import re
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pfscope.errors import InputError

FILE: Final = "privacy.key"
DIGITS: Final = 10
_KEY = re.compile(r"[0-9a-f]{64}")
_BLOCK: Final = 64
log = logging.getLogger("pfscope.privacy")


class DayKey:
    """The pseudonyms of one day."""

    def __init__(self, day: str, key: bytes) -> None:
        self.day = day
        self._key = key

    def __repr__(self) -> str:
        return f"<pseudonyms of {self.day}>"

    def name(self, kind: str, owner: str | None, value: str) -> str:
        """Return what stands for a value of somebody; `sql` says the same to a database."""
        text = f"{kind}\n{owner or ''}\n{value}".encode("utf-8", "surrogatepass")
        return f"{kind}-{hmac.new(self._key, text, hashlib.sha256).hexdigest()[:DIGITS]}"

    @property
    def pads(self) -> tuple[bytes, bytes]:
        """The inner and the outer block of HMAC, for engines that have SHA-256 alone."""
        key = self._key.ljust(_BLOCK, b"\0")
        return bytes(byte ^ 0x36 for byte in key), bytes(byte ^ 0x5C for byte in key)


def sql(kind: str, owner: str, value: str) -> str:
    """Return `DayKey.name` as an expression of DuckDB; `pads` has one row of both blocks."""
    text = f"encode('{kind}' || chr(10) || coalesce({owner}, '') || chr(10) || {value})"
    inside = f"unhex(sha256((SELECT inside FROM pads) || {text}))"
    whole = f"sha256((SELECT outside FROM pads) || {inside})"
    return f"'{kind}-' || left({whole}, {DIGITS})"


class Pseudonyms:
    """The secret of a data directory."""

    def __init__(self, directory: Path) -> None:
        self._secret = _secret(directory / FILE)

    def of(self, time_us: int) -> DayKey:
        """Return the pseudonyms of the UTC day in which a moment lies; midnight ends a day."""
        day = datetime.fromtimestamp((time_us - 1) // 10**6, UTC).strftime("%Y-%m-%d")
        return DayKey(day, hmac.new(self._secret, f"day {day}".encode(), hashlib.sha256).digest())


def _secret(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            mode, text = os.fstat(file.fileno()).st_mode, file.read(100).decode("ascii", "replace")
    except FileNotFoundError:
        return _made(path)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    if mode & 0o077:
        raise InputError(f"others can read {path}; chmod 600 it")
    if not _KEY.fullmatch(text.strip()):
        raise InputError(f"{path} holds no key; delete it, and all pseudonyms become others")
    return bytes.fromhex(text.strip())


def _made(path: Path) -> bytes:
    secret = secrets.token_bytes(32)
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secret.hex() + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        path.unlink(missing_ok=True)
        log.warning("%s: %s: pseudonyms last until the server ends", path, error.strerror)
    return secret
