"""What a demo has seen in all, and who of its servers is still lacking."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pfscope.lab.spectator import Requests, Seen
from pfscope.untrusted import ascii_text

FRAMES_WANTED = 2
"""Of each server: the first one has nothing to be compared with."""


class Summary:
    """Adds up frames."""

    def __init__(self, servers: Sequence[str]) -> None:
        self.servers = list(servers)
        self._frames: Counter[str] = Counter()
        self._entries: Counter[str] = Counter()
        self._classes: Counter[str] = Counter()
        self._users: Requests = Counter()
        self._defects = 0

    def add(self, seen: Seen) -> None:
        """Add one frame."""
        self._frames[seen.server] += 1
        self._entries[seen.server] += seen.entries
        self._classes += seen.classes
        self._users += seen.users
        self._defects += seen.defects

    def lacking(self) -> list[str]:
        """Return the servers that have not sent enough frames, or frames without entries."""
        return [
            server
            for server in self.servers
            if self._frames[server] < FRAMES_WANTED or not self._entries[server]
        ]

    def text(self, injected: Mapping[str, Any]) -> str:
        """Return the summary, with the incident that the laboratory injected beside it."""
        classes = ", ".join(f"{name} {n}" for name, n in self._classes.most_common())
        lines = [
            f"{len(self.servers)} servers, {self._frames.total()} frames, "
            f"{self._entries.total()} entries parsed, {self._defects} lines unreadable",
            f"classes: {classes or 'none'}",
            f"busiest user of the run: {self._busiest()}",
            f"the laboratory injected: {_told(injected)}",
        ]
        lines += [
            f"too little from {server}: {self._frames[server]} frames, "
            f"{self._entries[server]} entries"
            for server in self.lacking()
        ]
        return "\n".join(lines)

    def _busiest(self) -> str:
        total = self._users.total()
        if not total:
            return "nobody yet"
        user, requests = self._users.most_common(1)[0]
        return f"{ascii_text(user)}, {requests / total:.0%} of the requests of all users"


def _told(incident: Mapping[str, Any]) -> str:
    return (
        f"{incident['kind'].replace('_', ' ')} by user {incident['user']}, job {incident['job']} "
        f"on {', '.join(incident['nodes'])}, at {', '.join(incident['targets'])}"
    )
