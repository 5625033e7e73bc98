"""Silences: who wants to hear nothing of what, until when and why; one file for people and engine.

`silences.json` holds `{"version": 1, "silences": [{"id", "author", "comment", "start_us", "end_us",
"matchers": {LABEL: [GLOB, …]}}]}`. It is replaced as a whole, by one process at a time, and read
again when it changes. One that cannot be read silences nothing: rather a page too many.
"""

import fcntl
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pfscope.errors import InputError, UsageError
from pfscope.watch.alerts.files import write_whole
from pfscope.watch.alerts.model import Labels, listed
from pfscope.watch.alerts.rules import HOUR_US, fits

FILE: Final = "silences.json"
_KEPT_US: Final = 7 * 24 * HOUR_US
"""For how long an expired silence can still be looked at."""
_LABEL = re.compile(r"[a-z_][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Silence:
    """Alerts that fit all of its matchers are not told while it lasts."""

    id: str
    author: str
    comment: str
    start_us: int
    end_us: int
    matchers: Mapping[str, tuple[str, ...]]

    def is_active(self, now_us: int) -> bool:
        """Tell whether it counts now."""
        return self.start_us <= now_us < self.end_us

    def fits(self, labels: Labels) -> bool:
        """Tell whether it is meant for an alert."""
        return all(fits(labels, key, globs) for key, globs in self.matchers.items())

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return plain | {"matchers": listed(self.matchers)}


class SilenceFile:
    """The silences of a data directory."""

    def __init__(self, directory: Path, told: Callable[[str], None] = lambda _text: None) -> None:
        self.path = directory / FILE
        self._told = told
        self._seen: tuple[int, ...] | None = None
        self._current: tuple[Silence, ...] = ()

    def current(self) -> tuple[Silence, ...]:
        """Return the silences; those of a file that cannot be read count for nothing."""
        state = self._state()
        if state != self._seen:
            self._seen = state
            try:
                self._current = self.read()
            except InputError as error:
                self._current = ()
                self._told(f"nothing is silenced: {error}")
        return self._current

    def read(self) -> tuple[Silence, ...]:
        """Read the file; one that makes no sense is an `InputError`."""
        try:
            plain = json.loads(self.path.read_bytes())
            return tuple(_silence(item) for item in plain["silences"])
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise InputError(f"cannot read {self.path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            hint = "restore it, or delete it to begin anew"
            raise InputError(f"{self.path} does not hold silences; {hint}") from None

    def add(
        self,
        matchers: Mapping[str, tuple[str, ...]],
        *,
        author: str,
        comment: str,
        start_us: int,
        end_us: int,
    ) -> Silence:
        """Make a silence; one that would mute everything, or nothing, is a `UsageError`."""
        _check(matchers, author, comment, start_us, end_us)
        made = Silence(secrets.token_hex(4), author, comment, start_us, end_us, matchers)
        with self._changing(start_us) as silences:
            silences.append(made)
        return made

    def expire(self, name: str, now_us: int) -> None:
        """End a silence now; an unknown one is a `UsageError`."""
        with self._changing(now_us) as silences:
            for i, silence in enumerate(silences):
                if silence.id == name and silence.end_us > now_us:
                    start_us = min(silence.start_us, now_us)
                    plain = silence.as_json() | {"start_us": start_us, "end_us": now_us}
                    silences[i] = _silence(plain)
                    return
            raise UsageError(f"there is no silence {name!r} that has not ended")

    @contextmanager
    def _changing(self, now_us: int) -> Iterator[list[Silence]]:
        """Give the silences to change, without those that ended long ago."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        directory = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(directory, fcntl.LOCK_EX)
            silences = [s for s in self.read() if s.end_us > now_us - _KEPT_US]
            yield silences
            content = {"version": 1, "silences": [s.as_json() for s in silences]}
            write_whole(self.path, json.dumps(content, indent=1).encode("ascii"))
        finally:
            os.close(directory)

    def _state(self) -> tuple[int, ...] | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def read_matchers(texts: list[str]) -> dict[str, tuple[str, ...]]:
    """Read `LABEL=GLOB` texts; several for one label: any of them fits."""
    matchers: dict[str, tuple[str, ...]] = {}
    for text in texts:
        label, between, glob = text.partition("=")
        if not between or not glob or not _LABEL.fullmatch(label):
            raise UsageError(f"{text!r} is no matcher: write LABEL=GLOB, such as rule=slow-*")
        matchers[label] = (*matchers.get(label, ()), glob)
    return matchers


def _check(
    matchers: Mapping[str, tuple[str, ...]], author: str, comment: str, start_us: int, end_us: int
) -> None:
    if not any(glob.strip("*") for globs in matchers.values() for glob in globs):
        raise UsageError("this would silence everything: name a label and what it must be")
    if not author.strip() or not comment.strip():
        raise UsageError("a silence has an author and a comment that says why")
    if end_us <= start_us:
        raise UsageError("a silence ends after it begins")


def _silence(item: Any) -> Silence:
    globs = {str(k): tuple(map(str, v)) for k, v in item["matchers"].items()}
    if not globs:
        raise ValueError
    name, author, comment = (str(item[name]) for name in ("id", "author", "comment"))
    return Silence(name, author, comment, int(item["start_us"]), int(item["end_us"]), globs)
