"""Whether the disk has room, and what to say when it has none."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pfscope.errors import InputError, PfscopeError

_PROBE_BYTES: Final = 1 << 20
_NO_ROOM: Final = tuple(map(os.strerror, (errno.ENOSPC, errno.EDQUOT)))
"""As the kernel says it, and with it everybody whom it refuses."""


def free_bytes(directory: Path) -> int:
    """Return how much can be written."""
    return shutil.disk_usage(directory).free


def try_to_write(directory: Path) -> None:
    """Write as much as a frame may well have, and take it away; an `OSError` when that fails."""
    path = directory / "probe"
    try:
        with path.open("wb") as file:
            file.write(bytes(_PROBE_BYTES))
            file.flush()
            os.fsync(file.fileno())
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def lack_told(directory: Path) -> Iterator[None]:
    """Tell what to do when a data directory cannot be opened because the disk is full."""
    try:
        yield
    except (OSError, PfscopeError) as error:
        if not any(words in str(error) for words in _NO_ROOM):
            raise
        raise InputError(
            f"{directory}: the disk is full; make room and start again "
            f"(nothing that was acknowledged is lost): {error}"
        ) from error
