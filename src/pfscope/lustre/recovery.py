"""`recovery_status`: whether a target is back after a failover, and how far the clients are."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pfscope.lustre.defects import Defects

_LINE: Final = re.compile(rb"(?P<key>[^\s:][^:]*?)\s*:\s*(?P<value>.*)")


@dataclass(frozen=True, slots=True)
class Recovery:
    """The status, and the other lines as they are."""

    status: str
    """COMPLETE, RECOVERING, WAITING, WAITING_FOR_CLIENTS, INACTIVE; empty: not in the text."""
    values: Mapping[str, str]
    defects: Defects

    def number(self, key: str) -> int | None:
        """Return a value that is one number."""
        value = self.values.get(key, "")
        return int(value) if re.fullmatch(r"-?\d{1,20}", value) else None

    @property
    def clients(self) -> tuple[int, int] | None:
        """How many clients are back (connected, while the target recovers), of how many."""
        for key in ("completed_clients", "connected_clients"):
            if match := re.fullmatch(r"(\d{1,9})/(\d{1,9})", self.values.get(key, "")):
                return int(match[1]), int(match[2])
        return None


def parse_recovery_status(text: bytes, *, offset: int = 0) -> Recovery:
    """Read the content of one file."""
    values: dict[str, str] = {}
    defects = Defects()
    for line in text.splitlines(keepends=True):
        stripped = line.strip()
        if match := _LINE.fullmatch(stripped):
            key, value = (part.decode("ascii", "backslashreplace") for part in match.groups())
            values[key] = value
        elif stripped:
            defects.add(offset, "unreadable line")
        offset += len(line)
    return Recovery(values.pop("status", ""), values, defects)
