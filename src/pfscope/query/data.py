"""What `pfscope.open` returns: every question as a method, on a data directory or on a server."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Protocol, TypedDict, Unpack

from pfscope.query.results import Result

Patterns = str | int | Iterable[str | int]
"""One pattern or several: globs, ranges `LOW..HIGH`, either with `!` before it."""
Keys = str | Sequence[str]


class Words(TypedDict, total=False):
    """What every question takes."""

    start: str | datetime
    end: str | datetime
    step: str | timedelta
    operation: str
    system: bool
    login: bool
    filesystem: Patterns
    server: Patterns
    target: Patterns
    kind: Patterns
    user: Patterns
    group: Patterns
    project: Patterns
    job: Patterns
    array: Patterns
    node: Patterns
    executable: Patterns
    partition: Patterns


class Source(Protocol):
    """Answers questions that are put in words: a store, or a server that has one."""

    def ask(self, name: str, words: Mapping[str, Sequence[str]]) -> Result:
        """Return the answer."""

    def close(self) -> None:
        """Let go of it."""


class Data:
    """The usage of a site. All methods take the words of `Words`.

    >>> import pfscope
    >>> with pfscope.open("DATA") as data:  # doctest: +SKIP
    ...     data.top(by="user", operation="metadata", start="-1h").to_pandas()
    """

    def __init__(self, source: Source) -> None:
        self._source = source

    def __enter__(self) -> "Data":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the data."""
        self._source.close()

    def ask(self, name: str, **words: Any) -> Result:
        """Put any question by its name."""
        return self._source.ask(name, _as_text(words))

    def totals(self, by: Keys = "target", **words: Unpack[Words]) -> Result:
        """Return total rates over time: `time`, the keys, `rate`."""
        return self.ask("totals", by=by, **words)

    def series(self, by: Keys = "user", **words: Unpack[Words]) -> Result:
        """Return rates over time of each user, job, node, …: `time`, the keys, `rate`."""
        return self.ask("series", by=by, **words)

    def top(self, by: Keys = "user", *, limit: int = 20, **words: Unpack[Words]) -> Result:
        """Return who did most: `rank`, the keys, `rate_mean`, `rate_max`, `total`, `share`."""
        return self.ask("top", by=by, limit=limit, **words)

    def density(
        self,
        by: Keys = "user",
        *,
        base: int = 10,
        bucket: float | None = None,
        **words: Unpack[Words],
    ) -> Result:
        """Return how many have a rate of which magnitude; with `bucket`, who is in that one."""
        return self.ask("density", by=by, base=base, bucket=bucket, **words)


_NAMES = {"start": "from", "end": "to", "id_class": "class"}


def _as_text(words: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return words as the command line and HTTP would have them."""
    return {
        _NAMES.get(name, name): [_text(v) for v in _several(value)]
        for name, value in words.items()
        if value is not None
    }


def _several(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list | tuple | set | frozenset) else [value]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, timedelta):
        return str(value.total_seconds())
    return value.isoformat() if isinstance(value, datetime) else str(value)
