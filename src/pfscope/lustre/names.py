"""What Lustre's names say: the target, the file system and the kind in a parameter or a path."""

import re
from functools import lru_cache
from typing import Final

_TREE: Final = re.compile(r"(?:^|/)(?:proc/fs|sys/fs|sys/kernel/debug)/lustre/(?P<rest>.+)$")
_PARAMETER: Final = re.compile(r"[^.]+\.(?P<target>[^.]+)\.")
_TARGET: Final = re.compile(r"(?P<filesystem>.+)-(?P<kind>MDT|OST)[0-9a-fA-F]{4}(?:$|\W)")


def parameter_of_path(path: str) -> str | None:
    """Return the dotted name under which `lctl` knows a file, None for other files.

    >>> parameter_of_path("/proc/fs/lustre/obdfilter/scratch-OST0001/job_stats")
    'obdfilter.scratch-OST0001.job_stats'
    """
    match = _TREE.search(path)
    return match["rest"].replace("/", ".") if match else None


def target_of_parameter(name: str) -> str:
    """Return the target that a parameter belongs to, the whole name where none is in it.

    >>> target_of_parameter("mdt.scratch-MDT0000.job_stats")
    'scratch-MDT0000'
    """
    match = _PARAMETER.match(name)
    return match["target"] if match else name


@lru_cache(1 << 12)
def filesystem_of(target: str) -> str:
    """Return the file system that a target is part of, empty where its name does not say.

    >>> filesystem_of("scratch-OST000f")
    'scratch'
    """
    match = _TARGET.match(target)
    return match["filesystem"] if match else ""
