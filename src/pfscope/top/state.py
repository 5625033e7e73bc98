"""What is remembered from one use to the next: the columns, in a small file of the user's own."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_LARGEST: Final = 64 << 10
_MOST: Final = 64
"""So many columns, of names so long."""


def state_file() -> Path:
    """Return where it lies, as the XDG base directories say."""
    home = os.environ.get("XDG_STATE_HOME", "")
    base = Path(home) if home.startswith("/") else Path.home() / ".local" / "state"
    return base / "pfscope" / "top.json"


def remembered(path: Path) -> tuple[str, ...] | None:
    """Return the columns that were chosen; None where nothing sensible is remembered."""
    try:
        with path.open("rb") as file:
            told = json.loads(file.read(_LARGEST))
        columns = told["columns"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(columns, list) or not 0 < len(columns) <= _MOST:
        return None
    if not all(isinstance(name, str) and 0 < len(name) <= _MOST for name in columns):
        return None
    return tuple(columns)


def remember(path: Path, columns: Sequence[str]) -> str | None:
    """Keep columns, as a whole or not at all; return why that failed."""
    from pfscope.watch.alerts.files import write_whole

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, json.dumps({"columns": list(columns)}).encode("ascii"))
    except OSError as error:
        return f"the columns are not remembered: {path}: {error.strerror}"
    return None
