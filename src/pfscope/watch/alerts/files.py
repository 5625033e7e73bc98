"""Writes a small file so that, whatever happens, it holds the old or the new content whole."""

import os
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file of ours, and return when it is safe on disk."""
    beside = path.with_name(f"{path.name}.new")
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
