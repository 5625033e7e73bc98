"""Where a watch keeps what it knows: `DIR/watch/state.npz`, arrays by name, replaced as a whole.

It is a shortcut past looking at everything again: one that is damaged or of another version is
passed by, and the past is gone through anew.
"""

import io
import logging
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pfscope.watch.alerts.files import write_whole

FOLDER: Final = "watch"
_VERSION: Final = 1
log = logging.getLogger("pfscope.watch")
Arrays = Mapping[str, NDArray[Any]]


class LiveFile:
    """The file of one data directory."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FOLDER / "state.npz"

    def read(self) -> Arrays | None:
        """Return what was written; None: there is nothing that could be used."""
        try:
            with np.load(io.BytesIO(self._path.read_bytes()), allow_pickle=False) as file:
                if int(file["version"]) == _VERSION:
                    return {name: file[name] for name in file.files if name != "version"}
            why = "it is of another version"
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            why = str(error)
        log.warning("%s is passed by, the past is looked at anew: %s", self._path, why)
        return None

    def write(self, state: Arrays) -> None:
        """Keep a state, and return when it is safe."""
        out = io.BytesIO()
        np.savez(out, allow_pickle=False, version=np.array(_VERSION), **state)
        self._path.parent.mkdir(mode=0o700, exist_ok=True)
        write_whole(self._path, out.getvalue())
