"""What a load looks like: a pattern of operations and sizes against the archetypes of bad practice.

A kind is named only with the evidence for it, in words; what fits none is `unknown`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

KIB: Final = 1024
MALFORMED_IDS: Final = "malformed_ids"
"""What looks like no load at all: many ids were cut or overwritten on the servers."""
_LARGE: Final = 512 * KIB
_MANY_NODES: Final = 8


@dataclass(frozen=True, slots=True)
class Pattern:
    """What those who are behind an increase did meanwhile, per second."""

    requests: Mapping[str, float] = field(default_factory=dict)
    """By operation; `read` and `write` are transfers."""
    read_bytes: float = 0.0
    write_bytes: float = 0.0
    busiest: float = 0.0
    """The part of all bytes that went through the busiest OST."""
    targets: int = 0
    """How many OSTs there are in all."""
    nodes: int = 0
    executables: tuple[str, ...] = ()

    def rate(self, *operations: str) -> float:
        """Return how many requests of some operations there were."""
        return sum(self.requests.get(name, 0.0) for name in operations)

    def part(self, operation: str) -> float:
        """Return the part of an operation in the requests for metadata."""
        metadata = sum(rate for name, rate in self.requests.items() if name not in _TRANSFERS)
        return self.rate(operation) / metadata if metadata else 0.0

    def size(self, operation: str, transferred: float) -> float:
        """Return the mean size of a transfer."""
        count = self.rate(operation)
        return transferred / count if count else 0.0


_TRANSFERS: Final = ("read", "write")
Evidence = tuple[str, ...]


def kind_of(pattern: Pattern, *, data: bool) -> tuple[str, Evidence]:
    """Return the archetype and what speaks for it; `data`: it is bytes that increased."""
    for name, rule in (_DATA if data else _METADATA).items():
        evidence = rule(pattern)
        if evidence:
            return name, evidence
    return "unknown", ()


def _hot_file(pattern: Pattern) -> Evidence:
    if pattern.targets < 3 or pattern.busiest < 0.6:
        return ()
    return (f"{pattern.busiest:.0%} of its bytes go through one of {pattern.targets} OSTs",)


def _small_reads(pattern: Pattern) -> Evidence:
    size = pattern.size("read", pattern.read_bytes)
    if pattern.read_bytes < pattern.write_bytes or not 0 < size < _LARGE:
        return ()
    return (f"its reads are {size / KIB:.0f} KiB in the mean",)


def _streaming_read(pattern: Pattern) -> Evidence:
    size = pattern.size("read", pattern.read_bytes)
    if pattern.read_bytes < pattern.write_bytes or size < _LARGE:
        return ()
    return (f"it reads in large requests, {size / KIB:.0f} KiB in the mean",)


def _small_writes(pattern: Pattern) -> Evidence:
    size = pattern.size("write", pattern.write_bytes)
    if pattern.write_bytes <= pattern.read_bytes or not 0 < size < _LARGE:
        return ()
    return (f"its writes are {size / KIB:.0f} KiB in the mean",)


def _checkpoint(pattern: Pattern) -> Evidence:
    size = pattern.size("write", pattern.write_bytes)
    if pattern.write_bytes <= pattern.read_bytes or size < _LARGE:
        return ()
    return (f"it writes in large requests, {size / KIB:.0f} KiB in the mean",)


def _temporary_files(pattern: Pattern) -> Evidence:
    made, removed = pattern.rate("mknod"), pattern.rate("unlink")
    if pattern.part("mknod") < 0.05 or not 0.4 * made <= removed <= 2.5 * made:
        return ()
    return (f"it makes {made:.3g} files a second and removes {removed:.3g}",)


def _many_small_files(pattern: Pattern) -> Evidence:
    if pattern.part("mknod") < 0.05:
        return ()
    return (f"it makes {pattern.rate('mknod'):.3g} files a second and keeps them",)


def _stat_polling(pattern: Pattern) -> Evidence:
    if pattern.part("getattr") < 0.7:
        return ()
    return (f"{pattern.part('getattr'):.0%} of its requests ask for attributes",)


def _python_import_storm(pattern: Pattern) -> Evidence:
    python = [e for e in pattern.executables if e.lower().startswith(("python", "ipython"))]
    opens = pattern.part("open") + pattern.part("close") + pattern.part("getattr")
    if opens < 0.8 or not (python or pattern.nodes >= _MANY_NODES):
        return ()
    who = python[0] if python else f"{pattern.nodes} nodes at once"
    return (f"{who}: files are looked up and opened, hardly anything is read or written",)


def _metadata_storm(pattern: Pattern) -> Evidence:
    opens = pattern.part("open") + pattern.part("close") + pattern.part("getattr")
    if opens < 0.6:
        return ()
    return (f"{opens:.0%} of its requests open, close or look up files",)


_Rule = Callable[[Pattern], Evidence]
_DATA: Final[dict[str, _Rule]] = {
    "hot_file": _hot_file,
    "random_small_reads": _small_reads,
    "streaming_read": _streaming_read,
    "many_small_files": _small_writes,
    "periodic_checkpoint": _checkpoint,
}
"""From the most telling to the widest."""
_METADATA: Final[dict[str, _Rule]] = {
    "temporary_files": _temporary_files,
    "many_small_files": _many_small_files,
    "stat_polling": _stat_polling,
    "python_import_storm": _python_import_storm,
    "metadata_storm": _metadata_storm,
}
