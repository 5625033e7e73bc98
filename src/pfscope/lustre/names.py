"""What Lustre's names say: target, file system, kind and client in a parameter or a path."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

TargetKind = Literal["mdt", "ost", "mgs"]

_TREE: Final = re.compile(r"(?:^|/)(?:proc/fs|sys/fs|sys/kernel/debug)/lustre/(?P<rest>.+)$")
_TARGET: Final = re.compile(
    r"(?:(?P<fs>[^.]+)-)?(?P<kind>MDT|OST)(?P<index>[0-9a-fA-F]{4})(?:_UUID)?"
)
_NAMESPACE: Final = re.compile(r"(?:mdt|filter|MGC|mdc|osc)-")
_EXPORT: Final = re.compile(r"\.exports\.(?P<nid>[^@]+@\w+)\.")
_SOURCES: Final[dict[str, TargetKind]] = {"mdt": "mdt", "obdfilter": "ost", "mgs": "mgs"}


def parameter_of_path(path: str) -> str | None:
    """Return the dotted name under which `lctl` knows a file, None for other files.

    >>> parameter_of_path("/proc/fs/lustre/obdfilter/scratch-OST0001/job_stats")
    'obdfilter.scratch-OST0001.job_stats'
    """
    match = _TREE.search(path)
    return match["rest"].replace("/", ".") if match else None


@dataclass(frozen=True, slots=True)
class Owner:
    """What a parameter's name says about whose it is; None where it does not say."""

    target: str | None = None
    file_system: str | None = None
    kind: TargetKind | None = None
    nid: str | None = None
    """The client, for what is kept for each client."""


def owner_of(name: str) -> Owner:
    """Return whose parameter this is.

    >>> owner_of("obdfilter.scratch-OST0003.exports.10.1.2.3@o2ib.stats")
    Owner(target='scratch-OST0003', file_system='scratch', kind='ost', nid='10.1.2.3@o2ib')
    """
    source, *rest = name.split(".")
    nid = match["nid"] if (match := _EXPORT.search(name)) else None
    kind = _SOURCES.get(source)
    for part in rest[:2]:
        if match := _TARGET.fullmatch(_NAMESPACE.sub("", part, count=1)):
            kind = "mdt" if match["kind"] == "MDT" else "ost"
            target = match[0].removesuffix("_UUID")
            return Owner(target, match["fs"], kind, nid)
    return Owner(rest[0] if kind and rest else None, None, kind, nid)


def target_of_parameter(name: str) -> str:
    """Return the target that a parameter belongs to, the whole name where none is in it.

    >>> target_of_parameter("mdt.scratch-MDT0000.job_stats")
    'scratch-MDT0000'
    """
    return owner_of(name).target or name


@lru_cache(1 << 12)
def filesystem_of(target: str) -> str:
    """Return the file system that a target is part of, empty where its name does not say.

    >>> filesystem_of("scratch-OST000f")
    'scratch'
    """
    match = _TARGET.fullmatch(target)
    return (match["fs"] if match else None) or ""
