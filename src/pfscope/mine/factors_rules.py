"""What is asked when factors are worked out: the operation, what counts as small, which times."""

from typing import Final, Literal, NamedTuple, get_args

from pfscope.errors import UsageError
from pfscope.mine.schema_darshan import SIZES

Operation = Literal["read", "write", "metadata", "all"]
Intervals = Literal["span", "flush", "exact"]
OPERATIONS: Final = get_args(Operation)
INTERVALS: Final = get_args(Intervals)

_BOUNDS: Final = (
    100, 2**10, 10 * 2**10, 100 * 2**10, 2**20, 4 * 2**20, 10 * 2**20, 100 * 2**20, 2**30,
)  # fmt: skip
"""The upper bounds of Darshan's bins of sizes."""


class Rules(NamedTuple):
    """How factors are worked out."""

    operation: Operation = "write"
    intervals: Intervals = "span"
    """`span`: first to last access; `flush`: to the end of flushes; `exact`: what DXT traced."""
    small_bytes: int = 100 * 2**10
    """An access of at most so many bytes is small; Darshan knows some bounds alone."""
    first_counts: bool = True
    """A rank's first access to a file counts as not consecutive, which Darshan takes it for."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """`read`, `write` or both: of which calls sizes and places are known."""
        return {"read": ("read",), "write": ("write",), "all": ("read", "write")}.get(
            self.operation, ()
        )

    @property
    def small_bins(self) -> tuple[str, ...]:
        """The bins of what is small.

        >>> Rules().small_bins
        ('0_100', '100_1k', '1k_10k', '10k_100k')
        """
        return SIZES[: _BOUNDS.index(self.small_bytes) + 1]


def rules(
    operation: str = "write",
    intervals: str = "span",
    small_bytes: int = 100 * 2**10,
    *,
    first_counts: bool = True,
) -> Rules:
    """Return rules that can be followed; UsageError tells what is allowed."""
    if operation not in OPERATIONS:
        raise UsageError(f"{operation!r} is no operation: use {', '.join(OPERATIONS)}")
    if intervals not in INTERVALS:
        raise UsageError(f"{intervals!r} are no intervals: use {', '.join(INTERVALS)}")
    if small_bytes not in _BOUNDS:
        raise UsageError(
            f"Darshan does not count accesses up to {small_bytes} bytes: use one of"
            f" {', '.join(map(str, _BOUNDS))}"
        )
    return Rules(operation, intervals, small_bytes, first_counts)  # type: ignore[arg-type]
