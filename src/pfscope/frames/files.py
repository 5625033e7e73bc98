"""Reads frames from wherever people keep them: a file, a log's directory, or a tree of logs."""

import os
from typing import Callable, Iterator, List, Optional

from pfscope.frames.frame import Frame
from pfscope.frames.scan import Damage, scan
from pfscope.frames.segment import SEGMENT_SUFFIX


def frame_files(path: str) -> List[str]:
    """Return the segment files at `path`: itself, or all below it, directory by directory."""
    if not os.path.isdir(path):
        return [path]
    found = []
    for directory, folders, names in os.walk(path):
        folders.sort()
        found += [os.path.join(directory, n) for n in sorted(names) if n.endswith(SEGMENT_SUFFIX)]
    return found


def iter_frames(
    path: str, on_damage: Optional[Callable[[str, Damage], None]] = None
) -> Iterator[Frame]:
    """Yield every whole frame at `path` in the order of writing; damage is told and passed by.

    The log may be in use: a segment that is deleted meanwhile is left out.
    """
    for name in frame_files(path):
        try:
            file = open(name, "rb")  # noqa: SIM115 - closed below; only its absence is handled here
        except FileNotFoundError:
            if name == path:
                raise
            continue
        with file:
            for item in scan(file):
                if not isinstance(item, Damage):
                    yield item.frame
                elif on_damage is not None:
                    on_damage(name, item)
