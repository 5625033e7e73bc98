"""Reads frames from wherever people keep them: a file, a log's directory, or a tree of logs.

The log may be in use: its writer may append, and delete segments, while it is being read.
"""

import errno
import os
from typing import Callable, Iterator, List, Optional, Union

from pfscope.frames.frame import Frame
from pfscope.frames.scan import Damage, Found, scan
from pfscope.frames.segment import SEGMENT_SUFFIX


def frame_files(path: str) -> List[str]:
    """Return the segment files at `path`: itself, or all below it, directory by directory."""
    if not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    if not os.path.isdir(path):
        return [path]
    found = []
    for directory, folders, names in os.walk(path):
        folders.sort()
        found += [os.path.join(directory, n) for n in sorted(names) if n.endswith(SEGMENT_SUFFIX)]
    return found


def scan_file(path: str) -> Iterator[Union[Found, Damage]]:
    """Yield what one file holds; a segment that was deleted meanwhile holds nothing."""
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed below; only its absence is handled here
    except FileNotFoundError:
        return
    with file:
        for item in scan(file):
            yield item


def iter_frames(
    path: str, on_damage: Optional[Callable[[str, Damage], None]] = None
) -> Iterator[Frame]:
    """Yield every whole frame at `path` in the order of writing; damage is told and passed by."""
    for name in frame_files(path):
        for item in scan_file(name):
            if isinstance(item, Found):
                yield item.frame
            elif on_damage is not None:
                on_damage(name, item)
