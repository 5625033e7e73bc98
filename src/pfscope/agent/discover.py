"""Finds out what this server is (MDS, OSS or both) and where its statistics are.

Nothing is configured: targets come and go with failover, files move between releases. Absence is
never an error; a server without targets has no role.
"""

import fnmatch
import os
import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from pfscope.agent.lctl import find_lctl, get_param
from pfscope.agent.parameters import GROUPS, HOST, TARGET_FOLDERS, lustre_patterns

BASES = ("proc/fs/lustre", "sys/fs/lustre", "sys/kernel/debug/lustre")
_TARGET = re.compile(r"(.+)-(MDT|OST)[0-9a-f]{4}$")


class Source(NamedTuple):
    """A file to read and the name under which its text travels."""

    name: str
    path: str


class Found(NamedTuple):
    """What was found on a server at one time."""

    targets: Tuple[str, ...]
    """Names such as `scratch-MDT0000`, sorted."""
    sources: Tuple[Source, ...]
    """The files to read."""
    bases: Tuple[str, ...]
    """The directories below which Lustre's files are."""
    lctl: Optional[str]
    """The program to ask instead, where there are no files."""

    @property
    def role(self) -> str:
        """`MDS`, `OSS`, `MDS and OSS` or `no Lustre server`."""
        kinds = {match.group(2) for match in map(_TARGET.match, self.targets) if match}
        roles = [role for kind, role in (("MDT", "MDS"), ("OST", "OSS")) if kind in kinds]
        return " and ".join(roles) or "no Lustre server"

    @property
    def filesystems(self) -> Tuple[str, ...]:
        """The names of the file systems that the targets belong to."""
        return tuple(sorted({m.group(1) for m in map(_TARGET.match, self.targets) if m}))


def discover(root: str, groups: Iterable[str], lctl: Optional[str] = None) -> Found:
    """Look at the tree below `root`; where it holds no target, ask `lctl` if there is one."""
    wanted = list(groups)
    bases = tuple(b for b in (os.path.join(root, base) for base in BASES) if os.path.isdir(b))
    sources = _host_sources(root) if HOST in wanted else []
    targets = target_names(bases)
    program = None if targets else find_lctl(root, lctl)
    if program:
        targets = _targets_by_lctl(program)
    else:
        sources = lustre_sources(bases, lustre_patterns(wanted)) + sources
    return Found(tuple(targets), tuple(sources), bases, program)


def target_names(bases: Iterable[str]) -> List[str]:
    """Return the names of the targets that are mounted, cheaply."""
    names = {n for base in bases for kind in TARGET_FOLDERS for n in _names(base + "/" + kind)}
    return sorted(name for name in names if _TARGET.match(name))


def _host_sources(root: str) -> List[Source]:
    sources = [Source(name, os.path.join(root, name.lstrip("/"))) for name in GROUPS[HOST]]
    return [source for source in sources if os.path.exists(source.path)]


def lustre_sources(bases: Iterable[str], patterns: Iterable[str]) -> List[Source]:
    """Return the files whose names match; of two with one name, the one in the earlier base."""
    sources: Dict[str, Source] = {}
    kept_bases = list(bases)
    for pattern in patterns:
        for base in kept_bases:
            for parts in _expand(base, pattern.split("."), ()):
                name = ".".join(parts)
                sources.setdefault(name, Source(name, os.path.join(base, *parts)))
    return list(sources.values())


def _expand(base: str, pattern: List[str], parts: Tuple[str, ...]) -> List[Tuple[str, ...]]:
    """Return the existing paths that match, as parts: a part may itself hold dots (a NID)."""
    if not pattern:
        return [parts] if os.path.isfile(os.path.join(base, *parts)) else []
    if "*" in pattern[0]:
        names = fnmatch.filter(_names(os.path.join(base, *parts)), pattern[0])
    else:
        names = [pattern[0]]
    return [path for name in names for path in _expand(base, pattern[1:], parts + (name,))]


def _names(directory: str) -> List[str]:
    try:
        names = os.listdir(directory)
    except OSError:
        return []
    # A frame refuses names with line ends; no file of Lustre has one.
    return sorted(name for name in names if "\n" not in name and "\r" not in name)


def _targets_by_lctl(program: str) -> List[str]:
    patterns = ["%s.*.num_exports" % kind for kind in TARGET_FOLDERS]
    try:
        output = b"".join(get_param(program, patterns)).decode("utf-8", "replace")
    except OSError:
        return []  # collecting will meet and note the same trouble
    names = (line.split("=")[0].split(".") for line in output.splitlines())
    return sorted({n[1] for n in names if len(n) == 3 and _TARGET.match(n[1])})
