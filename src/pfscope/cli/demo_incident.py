"""What the demo's server says of the incident that was injected, and whether it is right.

The server is asked as anybody would ask it; the truth stands in the laboratory's directory alone.
"""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from pfscope.cli.incident_page import incident_text
from pfscope.errors import InputError
from pfscope.remote import Connection, RemoteSource
from pfscope.watch.written import as_rows

EARLY: Final = timedelta(minutes=5)
"""An average cannot tell to the minute when a change began."""
Row = Mapping[str, Any]


class Detective:
    """Asks for incidents, and compares the first one with the truth."""

    def __init__(self, url: str, site: Path) -> None:
        self._source = RemoteSource(Connection(url))
        self._truth = site / "truth" / "incidents.json"
        since = datetime.fromisoformat(self.injected()["start"]) - EARLY
        self._words = {"from": [since.isoformat()], "to": [(since + timedelta(days=7)).isoformat()]}
        self._since = since
        self._shown: Row = {}
        self.first: Row | None = None
        """The first incident that began since then, as it was told last."""

    def injected(self) -> dict[str, Any]:
        """Return the truth."""
        injected: dict[str, Any] = json.loads(self._truth.read_text())[0]
        return injected

    def look(self) -> Row | None:
        """Ask; return an incident of which there is news."""
        try:
            rows = as_rows(self._source.incidents(self._words))
        except InputError:  # it is busy with other things: there is a next time
            return None
        fresh = [row for row in rows if datetime.fromisoformat(row["start"]) >= self._since]
        if self.first is None:
            self.first = fresh[0] if fresh else None
        known = next((r for r in fresh if self.first and r["id"] == self.first["id"]), None)
        self.first = known or self.first
        if not self.first or _news(self.first) == _news(self._shown):
            return None
        self._shown = self.first
        return self.first

    def is_right(self) -> bool:
        """Tell whether the first cause that is named is the job and user that were injected."""
        truth, causes = self.injected(), self.first["causes"] if self.first else []
        return bool(causes) and all(causes[0][key] == truth[key] for key in ("user", "job"))

    def verdict(self) -> str:
        """Return what was found, and how it compares with the truth."""
        if self.first is None:
            return "no incident was found"
        said = "is" if self.is_right() else "is NOT"
        return f"{incident_text(self.first)}\nthe culprit named {said} the one that was injected"


def _news(told: Row) -> tuple[Any, ...]:
    """Return what makes an incident worth showing again."""
    who = [tuple(cause.values())[:4] for cause in told.get("causes", [])[:1]]
    return told.get("id"), told.get("state"), told.get("severity"), told.get("kind"), who
