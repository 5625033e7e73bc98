"""Keeps copies of damaged journal files for people to look at, before anything of them goes."""

import logging
import shutil
from contextlib import suppress
from pathlib import Path

from pfscope.frames import Damage, frame_files, scan

log = logging.getLogger("pfscope.server")


def quarantine(directory: Path, aside: Path) -> None:
    """Copy damaged segments for people to look at; a torn end is none, but a crash's mark."""
    files = frame_files(str(directory)) if directory.is_dir() else []
    for path in map(Path, files):
        with path.open("rb") as file:
            damage = [item for item in scan(file) if isinstance(item, Damage)]
        end = path.stat().st_size
        if path == Path(files[-1]):
            damage = [d for d in damage if not _torn(d, end)]
        if damage:
            log.warning("%s is damaged; what is whole is used, a copy is in %s", path, aside)
            with suppress(OSError):  # no room for a copy is no reason not to start
                aside.mkdir(mode=0o700, exist_ok=True)
                shutil.copyfile(path, aside / f"journal-{path.name}")


def _torn(damage: Damage, end: int) -> bool:
    cut = damage.reason in ("the file ends within a frame", "the head is cut off")
    return cut and damage.offset + damage.length == end
