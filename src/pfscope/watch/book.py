"""The incidents that were seen while they happened: `DIR/incidents/ID.json`, one file for each.

A file holds what `written.plain` makes and `acknowledged`: null, or `{"author", "comment",
"time_us"}`. Each is replaced as a whole, and is safe on disk when `keep` returns; one that makes no
sense is passed by and told. All are in memory, too: looking costs no disk.
"""

import json
import logging
import re
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from pfscope.watch.alerts.files import write_whole
from pfscope.watch.model import Incident
from pfscope.watch.written import from_plain, plain

FOLDER: Final = "incidents"
ID: Final = r"[0-9]{8}T[0-9]{4}-[0-9a-f]{6}"
"""What ids look like: they are names of files."""
MOST: Final = 10_000
"""The oldest are forgotten when there are more."""
log = logging.getLogger("pfscope.watch")
Record = dict[str, Any]


class Book:
    """The one writer of the folder; any thread may use it."""

    def __init__(self, directory: Path) -> None:
        self._folder = directory / FOLDER
        self._guard = threading.Lock()
        self._records = {record["id"]: record for record in _read(self._folder)}
        self.watched_us: int | None = None
        """Up to here everything was looked at."""

    def all(self) -> list[Record]:
        """Return all incidents, in order of time."""
        with self._guard:
            return sorted(self._records.values(), key=lambda r: (r["start_us"], r["id"]))

    def get(self, name: str) -> Record | None:
        """Return one, if it is there."""
        with self._guard:
            return self._records.get(name)

    def keep(self, incident: Incident) -> None:
        """Note how an incident is now; what is known already costs nothing."""
        with self._guard:
            old = self._records.get(incident.id, {})
            self._write({**plain(incident), "acknowledged": old.get("acknowledged")})

    def acknowledge(self, name: str, author: str, comment: str, now_us: int) -> Record | None:
        """Note that somebody takes care; None: there is no such incident."""
        with self._guard:
            if name not in self._records:
                return None
            said = {"author": author, "comment": comment, "time_us": now_us}
            self._write({**self._records[name], "acknowledged": said})
            return self._records[name]

    def drop(self, name: str) -> None:
        """Forget one: it turned out to be part of another."""
        with self._guard:
            self._forget(name)

    def _write(self, record: Record) -> None:
        name = record["id"]
        if self._records.get(name) == record:
            return
        self._folder.mkdir(mode=0o700, exist_ok=True)
        content = json.dumps(record, allow_nan=False).encode("ascii")
        write_whole(self._folder / f"{name}.json", content)
        self._records[name] = record
        while len(self._records) > MOST:
            self._forget(min(self._records))

    def _forget(self, name: str) -> None:
        if self._records.pop(name, None) is not None:
            (self._folder / f"{name}.json").unlink(missing_ok=True)


def _read(folder: Path, told: Callable[..., None] = log.warning) -> Iterable[Record]:
    for path in sorted(folder.glob("*.json")):
        try:
            record = json.loads(path.read_bytes())
            from_plain(record)
            if record["id"] != path.stem or not re.fullmatch(ID, path.stem):
                raise ValueError("its name is another's")  # noqa: TRY301
            record.setdefault("acknowledged", None)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            told("%s is no incident: %s", path, error)
        else:
            yield record
