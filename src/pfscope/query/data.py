"""What `pfscope.open` returns: every question as a method, on a data directory or on a server."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, Unpack

from pfscope.errors import UsageError
from pfscope.query.local import LocalSource
from pfscope.query.results import Result

if TYPE_CHECKING:
    import ibis.expr.types as ir

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
    id_class: Patterns


class Source(Protocol):
    """Answers questions that are put in words: a store, or a server that has one."""

    def ask(self, name: str, words: Mapping[str, Sequence[str]]) -> Result:
        """Return the answer.

        >>> data.ask("top", by=["user", "node"], operation="open", limit=1)
        <top: 1 rows of rank, user, node, rate_mean, rate_max, total, share>
        """

    def incidents(self, words: Mapping[str, Sequence[str]]) -> Result:
        """Return what changed, who caused it and what to do."""

    def incident(self, name: str) -> dict[str, Any]:
        """Return one of them with its evidence."""

    def close(self) -> None:
        """Let go of it."""


class Data:
    """The usage of a site. All methods take the words of `Words`.

    The examples are of four minutes in which user 1001 opened one file a second and then two, and
    1002 opened half a one and read a megabyte a second, for two minutes.

    >>> data.top(operation="open", system=False).to_pandas()[["user", "rate_mean", "rate_max"]]
       user  rate_mean  rate_max
    0  1001       1.50       2.0
    1  1002       0.25       0.5
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

    def rates(self, by: Keys = "user", **words: Unpack[Words]) -> "ir.Table":
        """Return `time`, the keys, `rate` and `increment` as an Ibis expression, to go on with.

        >>> rates = data.rates(operation="open")
        >>> data.run(rates.group_by("user").agg(most=rates.rate.max()).order_by("user")).to_pylist()
        [{'user': '0', 'most': 0.1}, {'user': '1001', 'most': 2.0}, {'user': '1002', 'most': 0.5}]
        """
        return self._here().rates(_as_text({"by": by, **words}))

    def run(self, expression: "ir.Table") -> Result:
        """Return the rows of an expression that was made from `rates`."""
        return self._here().run(expression)

    def _here(self) -> LocalSource:
        if not isinstance(self._source, LocalSource):
            raise UsageError("expressions need the data at hand: open its directory")
        return self._source

    def totals(self, by: Keys = "target", **words: Unpack[Words]) -> Result:
        """Return total rates over time: `time`, the keys, `rate`.

        >>> [row["rate"] for row in data.totals(operation="open", user="1001").to_pylist()]
        [1.0, 2.0]
        """
        return self.ask("totals", by=by, **words)

    def series(self, by: Keys = "user", **words: Unpack[Words]) -> Result:
        """Return rates over time of each user, job, node, …: `time`, the keys, `rate`.

        >>> first, *_ = data.series(operation="open", user="100*").to_pylist()
        >>> f"{first['time']:%H:%M}", first["user"], first["rate"]
        ('00:02', '1001', 1.0)
        """
        return self.ask("series", by=by, **words)

    def top(self, by: Keys = "user", *, limit: int = 20, **words: Unpack[Words]) -> Result:
        """Return who did most: `rank`, the keys, `rate_mean`, `rate_max`, `total`, `share`.

        >>> data.top(operation="read_bytes").to_pylist()
        [{'rank': 1, 'user': '1002', 'rate_mean': 500000.0, 'rate_max': 1000000.0,
          'total': 120000000.0, 'share': 1.0}]
        """
        return self.ask("top", by=by, limit=limit, **words)

    def density(
        self,
        by: Keys = "user",
        *,
        base: int = 10,
        bucket: float | None = None,
        **words: Unpack[Words],
    ) -> Result:
        """Return how many have a rate of which magnitude; with `bucket`, who is in that one.

        >>> density = data.density(operation="open").to_pylist()
        >>> [(row["bucket_low"], row["count"]) for row in density]
        [(0.1, 2), (1.0, 1), (1.0, 1)]
        >>> data.density(operation="open", bucket=5).to_pandas()["user"].unique().tolist()
        ['1001']
        """
        return self.ask("density", by=by, base=base, bucket=bucket, **words)

    def causes(
        self,
        by: Keys = "user",
        *,
        explain: float = 0.8,
        baseline: str | timedelta | None = None,
        baseline_start: str | datetime | None = None,
        baseline_end: str | datetime | None = None,
        limit: int = 20,
        **words: Unpack[Words],
    ) -> Result:
        """Return who is behind an increase: `rank`, the keys, `baseline`, `peak`, `increase`, …

        `about` tells how the `total` changed, how many were in which bucket of a `density` before
        and during, and of those `named` whether they are `few` large or `many` small.

        >>> data.causes(operation="open", start="-2m").to_pylist()
        [{'rank': 1, 'user': '1001', 'baseline': 1.0, 'peak': 2.0, 'increase': 1.0, 'share': 1.0}]
        """
        past = {"baseline": baseline, "baseline_from": baseline_start, "baseline_to": baseline_end}
        return self.ask("causes", by=by, explain=explain, limit=limit, **past, **words)

    def quality(self, **words: Unpack[Words]) -> Result:
        """Return entries by how sound their ids are: `time`, `target`, `class`, `system`, …

        >>> sorted({(row["target"], row["entries"]) for row in data.quality().to_pylist()})
        [('scratch-MDT0000', 2), ('scratch-OST0000', 2)]
        """
        return self.ask("quality", **words)

    def silence(self, by: Keys = "server", **words: Unpack[Words]) -> Result:
        """Return how long servers were not heard of: the keys, `last` and `silent_s`.

        >>> [(row["server"], row["silent_s"]) for row in data.silence().to_pylist()]
        [('mds1', 0.0), ('oss1', 0.0)]
        """
        return self.ask("silence", by=by, **words)

    def unattributed(
        self, by: Keys = "target", *, over_time: bool = False, **words: Unpack[Words]
    ) -> Result:
        """Return what no id is told for: the keys, `total`, `attributed`, `unattributed`, …"""
        return self.ask("unattributed", by=by, over_time=over_time, **words)

    def sizes(self, by: Keys = "job", *, histogram: bool = False, **words: Unpack[Words]) -> Result:
        """Return how large reads and writes are; with `histogram`, requests by size.

        >>> [(row["requests"], row["mean_size"]) for row in data.sizes(by="user").to_pylist()]
        [(30, 4000000.0)]
        """
        return self.ask("sizes", by=by, histogram=histogram, **words)

    def balance(self, by: Keys = ("filesystem", "kind"), **words: Unpack[Words]) -> Result:
        """Return how evenly targets share: the keys, `targets`, `mean`, `max`, `busiest`, …

        >>> data.balance(operation="read_bytes").to_pylist()[0]["busiest"]
        'scratch-OST0000'
        """
        return self.ask("balance", by=by, **words)

    def counters(self, by: Keys = ("target", "node"), **words: Unpack[Words]) -> Result:
        """Return raw counters of an operation as Lustre printed them: `time`, …, `counter`."""
        return self.ask("counters", by=by, **words)

    def load(
        self,
        by: Keys = "job",
        *,
        limit: int = 20,
        fit_window: str | timedelta = "24h",
        costs: bool = False,
        **words: Unpack[Words],
    ) -> Result:
        """Return effective loads: `server`, the keys, `load`, `load_equal`, `load_service`, …

        `about` tells what they leave unexplained, why one is missing, how good the fit of the
        learned one is and, if asked for, the `costs` of requests.
        """
        return self.ask("load", by=by, limit=limit, fit_window=fit_window, costs=costs, **words)

    def latency(
        self, by: Keys = ("job", "operation"), *, limit: int = 20, **words: Unpack[Words]
    ) -> Result:
        """Return how long requests took: the keys, `operation`, `requests`, `mean_us`, …"""
        return self.ask("latency", by=by, limit=limit, **words)

    def incidents(
        self,
        *,
        start: str | datetime | None = None,
        end: str | datetime | None = None,
        severity: str | None = None,
        state: str | None = None,
        filesystem: str | None = None,
        kind: str | None = None,
        user: str | None = None,
    ) -> Result:
        """Return what changed, who caused it and what to do: one row for each incident.

        Without `start` it is the last day. A server answers with what it saw while it happened; a
        directory is gone through anew, which takes some seconds for each day.
        """
        words = {
            "start": start, "end": end, "severity": severity, "state": state,
            "filesystem": filesystem, "kind": kind, "user": user,
        }  # fmt: skip
        return self._source.incidents(_as_text(words))

    def incident(self, name: str) -> dict[str, Any]:
        """Return one incident by its id, with its evidence."""
        return self._source.incident(name)


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
