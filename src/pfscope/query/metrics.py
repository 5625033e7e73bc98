"""What is counted: an operation, or a linear combination of operations of one unit.

An operation counts its requests; `read_bytes` and `write_bytes` count bytes. Lustre prints one
transfer in several lines (`read` and `read_bytes`, `rename` and its parts), and early releases use
other units: this module knows which line holds what, so that nothing is counted twice.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from pfscope.errors import UsageError

TRANSFERS: Final = {"read": "read_bytes", "write": "write_bytes"}
"""The requests of a transfer and its bytes stand in one line, by the name on the right."""
PARTS_OF_RENAME: Final = (
    "samedir_rename",
    "crossdir_rename",
    "parallel_rename_file",
    "parallel_rename_dir",
    "rename_trylocks",
)
_METADATA: Final = {
    "getattr": 1.0, "getxattr": 1.0, "statfs": 1.0, "close": 1.0, "open": 2.0, "setattr": 3.0,
    "setxattr": 3.0, "mknod": 4.0, "link": 4.0, "unlink": 4.0, "mkdir": 4.0, "rmdir": 4.0,
    "sync": 4.0, "rename": 6.0, "migrate": 10.0,
}  # fmt: skip
"""Rough costs: a lookup is one; what changes a directory writes a journal; a rename changes two."""


def is_bytes(operation: str) -> bool:
    """Tell whether an operation is counted in bytes."""
    return operation.endswith("_bytes")


@dataclass(frozen=True, slots=True)
class Metric:
    """A sum of operations with weights."""

    name: str
    weights: Mapping[str, float]
    """By the names of operations; `*` is every request that is not told by its own name."""
    kinds: tuple[str, ...] = ("mdt", "ost")
    """On which targets."""
    timed: bool = False
    """Of the microseconds that requests took, where servers tell them, not of the requests."""

    def __post_init__(self) -> None:
        units = {is_bytes(name) for name in self.weights}
        if len(units) > 1:
            raise UsageError(f"metric {self.name}: bytes and requests cannot be added up")
        if not self.weights:
            raise UsageError(f"metric {self.name}: it needs one operation at least")

    @property
    def unit(self) -> str:
        """What one of it is."""
        if self.timed:
            return "seconds"
        return "bytes" if is_bytes(next(iter(self.weights))) else "requests"


SHIPPED: Final = {
    metric.name: metric
    for metric in (
        Metric("metadata", _METADATA, ("mdt",)),
        Metric("iops", {"*": 1.0}),
        Metric("bytes", {"read_bytes": 1.0, "write_bytes": 1.0}),
        Metric("service", {"*": 1e-6}, timed=True),
    )
}


@dataclass(frozen=True, slots=True)
class Term:
    """Some numbered operations of the store, and how much each counts of one of their columns."""

    column: str
    """`samples` or `total`."""
    weights: Mapping[int, float]
    names: Mapping[int, str]
    """What each is called in answers by operation."""
    kinds: tuple[str, ...] = ("mdt", "ost")


def names(operations: Iterable[tuple[str, str]]) -> list[str]:
    """Return the operations that can be asked for, of a store that has some (name, unit)."""
    present = {name for name, _ in operations}
    for requests, line in TRANSFERS.items():
        if present & {requests, line}:
            present |= {requests, line}
    return sorted(present)


def find_metric(
    name: str, operations: Sequence[tuple[str, str]], metrics: Mapping[str, Metric]
) -> Metric:
    """Return the metric, or the operation as one."""
    known = names(operations)
    if name in metrics:
        return _checked(metrics[name], known)
    if operations and name not in known:
        near = get_close_matches(name, [*known, *metrics], 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
        raise UsageError(f"there is no operation or metric {name!r}; {hint}")
    return Metric(name, {name: 1.0})


def _checked(metric: Metric, known: Sequence[str]) -> Metric:
    """Refuse a metric with an operation that neither the store nor any Lustre has."""
    anywhere = {"*", *known, *PARTS_OF_RENAME, *(n for m in SHIPPED.values() for n in m.weights)}
    unknown = sorted(set(metric.weights) - anywhere)
    if known and unknown:
        near = get_close_matches(unknown[0], sorted(anywhere), 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"metric {metric.name}: there is no operation {unknown[0]!r}{hint}")
    return metric


def term_of(metric: Metric, operations: Sequence[tuple[str, str]]) -> Term:
    """Return which numbered operations of a store a metric adds up."""
    if metric.timed:
        told = timed_operations(operations)
        each = {
            n: metric.weights.get(name, metric.weights.get("*", 0.0)) for n, name in told.items()
        }
        return Term(
            "total", {n: weight for n, weight in each.items() if weight}, told, metric.kinds
        )
    weights: dict[int, float] = {}
    called: dict[int, str] = {}
    for number, line in enumerate(operations):
        name = _bytes_of(*line) if metric.unit == "bytes" else _requests_of(*line)
        if name is None or (name in PARTS_OF_RENAME and name not in metric.weights):
            continue
        weight = metric.weights.get(name, metric.weights.get("*", 0.0))
        if weight:
            weights[number], called[number] = weight, name
    column = "total" if metric.unit == "bytes" else "samples"
    return Term(column, weights, called, metric.kinds)


def every_operation(operations: Sequence[tuple[str, str]]) -> list[Term]:
    """Return terms for each operation by itself, whatever its unit."""
    listed = dict.fromkeys(names(operations), 1.0)
    requests = {name: 1.0 for name in listed if not is_bytes(name)}
    transferred = {name: 1.0 for name in listed if is_bytes(name)}
    return [
        term_of(Metric("all", weights), operations)
        for weights in (requests, transferred)
        if weights
    ]


def timed_operations(operations: Sequence[tuple[str, str]]) -> dict[int, str]:
    """Return the numbered operations whose lines tell the time that they took."""
    return {
        number: name
        for number, (name, unit) in enumerate(operations)
        if unit == "usecs" and name not in PARTS_OF_RENAME
    }


def _requests_of(name: str, unit: str) -> str | None:
    """Name the operation whose requests are this line's samples, if they are counted by it."""
    for requests, line in TRANSFERS.items():
        if name == line or (name == requests and unit == "bytes"):
            return requests
        if name == requests:
            return None  # the same requests again, with the time that they took
    return name


def _bytes_of(name: str, unit: str) -> str | None:
    """Name the operation whose bytes are this line's sum, if it holds bytes."""
    for requests, line in TRANSFERS.items():
        if name == line or (name == requests and unit == "bytes"):
            return line
    return None
