"""`DIR/alerts/state.json`: states, groups and the outbox, replaced as a whole whenever they change.

`{"version": 1, "engine": {"alerts", "groups"}, "outbox": […], "muted": {…}, "trouble": {…},
"watched_us"}`: `muted` and `trouble` are for people who look, `watched_us` is the time of what was
observed when the states changed last. A file that makes no sense is set aside under another name
and told: alerts begin anew, and whatever goes on is told again.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pfscope.errors import InputError
from pfscope.watch.alerts.files import write_whole

FILE: Final = "state.json"
DAMAGED: Final = "state.json.damaged"
WATCHED: Final = "watched_us"
_VERSION: Final = 1


class StateFile:
    """The one file, and what it held last."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / FILE
        self._written = b""

    def read(self) -> dict[str, Any] | None:
        """Return the state, or None where there is none; nonsense is a `ValueError`."""
        try:
            plain = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(f"cannot read {self.path}: {error.strerror}") from None
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        if not isinstance(plain, dict):
            raise ValueError("it is no object")  # noqa: TRY004
        if plain.get("version") != _VERSION:
            raise InputError(f"{self.path} is of another version of pfscope")
        return plain

    def write(self, plain: Mapping[str, Any]) -> None:
        """Make it safe; the same as before, but for the time, costs nothing."""
        content = _encoded({key: value for key, value in plain.items() if key != WATCHED})
        if content != self._written:
            write_whole(self.path, _encoded(plain))
            self._written = content

    def set_aside(self) -> Path:
        """Keep a damaged file for people to look at."""
        return self.path.replace(self.path.with_name(DAMAGED))


def _encoded(plain: Mapping[str, Any]) -> bytes:
    return json.dumps({"version": _VERSION, **plain}, allow_nan=False).encode("ascii")
