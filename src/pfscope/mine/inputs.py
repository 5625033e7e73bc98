"""Files that are given to an import: found below the paths that were named, and read within bounds.

A file is known by the digest of its content, wherever it is and whatever it is called.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

from pfscope.errors import InputError
from pfscope.untrusted import ascii_text

_CHUNK: Final = 1 << 20
LARGEST: Final = 4 << 30
"""A log that is read whole is not longer."""


class Period(NamedTuple):
    """A time from which on, and one before which; None is no bound."""

    from_us: int | None = None
    to_us: int | None = None

    @property
    def bounds(self) -> tuple[int | None, int | None]:
        """Both of them."""
        return (self.from_us, self.to_us)

    def has(self, time_us: int) -> bool:
        """Return whether a time is in it."""
        return (self.from_us is None or self.from_us <= time_us) and (
            self.to_us is None or time_us < self.to_us
        )


class Candidate(NamedTuple):
    """A file that was found; it may not be readable."""

    path: str
    size: int
    modified_us: int

    @property
    def shown(self) -> str:
        """Its path as ASCII text."""
        return ascii_text(os.fsencode(self.path))


class Found(NamedTuple):
    """A file whose content is known by its digest."""

    path: str
    size: int
    modified_us: int
    digest: str

    @property
    def shown(self) -> str:
        """Its path as ASCII text."""
        return ascii_text(os.fsencode(self.path))


def find(paths: Iterable[str], endings: tuple[str, ...]) -> Iterator[Candidate]:
    """Yield files: those that are named, and in directories those with an ending, in order.

    InputError: something that was named is not there.
    """
    for path in paths:
        try:
            kind = Path(path).stat().st_mode
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror}") from error
        if not stat.S_ISDIR(kind):
            yield from _candidate(path)
            continue
        closed: list[OSError] = []
        for folder, folders, names in os.walk(path, onerror=closed.append):
            folders.sort()
            for name in sorted(names):
                if name.endswith(endings):
                    yield from _candidate(os.path.join(folder, name))  # noqa: PTH118
        # A directory that cannot be looked into goes the way of a file that cannot be read.
        yield from (Candidate(os.fsdecode(error.filename), 0, 0) for error in closed)


def _candidate(path: str) -> Iterator[Candidate]:
    try:
        found = Path(path).stat()
    except OSError:  # a link to nowhere, or gone by now
        return
    if stat.S_ISREG(found.st_mode):
        yield Candidate(os.path.abspath(path), found.st_size, found.st_mtime_ns // 1000)  # noqa: PTH100


def digest(path: str) -> str:
    """Return the digest of a file's content: 32 hexadecimal digits."""
    state = blake2b(digest_size=16)
    with Path(path).open("rb") as file:
        while chunk := file.read(_CHUNK):
            state.update(chunk)
    return state.hexdigest()


def read_found(found: Found) -> bytes:
    """Return a file's content; InputError: it cannot be read, or is another one by now."""
    if found.size > LARGEST:
        raise InputError(f"the file has {found.size} bytes, more than the {LARGEST} allowed")
    try:
        data = Path(found.path).read_bytes()
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror}") from error
    if blake2b(data, digest_size=16).hexdigest() != found.digest:
        raise InputError("the file changed while it was imported")
    return data
