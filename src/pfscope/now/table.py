"""The table of now: what everyone does, grouped by any keys, in every measure at once."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pfscope.errors import UsageError
from pfscope.now.measures import Measure, measures
from pfscope.now.patterns import fits
from pfscope.now.sight import Floats, Numbers, Sight
from pfscope.now.wish import Wish
from pfscope.query.metrics import Metric

LOAD: Final = "load"
_DIGITS: Final = 6


@dataclass(frozen=True)
class Column:
    """One measure of every series."""

    name: str
    unit: str
    values: Floats
    is_metric: bool = False


@dataclass(frozen=True)
class Names:
    """A key of every series: distinct texts, and the place of each series' own."""

    texts: tuple[str | None, ...]
    places: Numbers

    @staticmethod
    def of(values: Sequence[str | None]) -> "Names":
        """Tell distinct texts apart."""
        found: dict[str | None, int] = {}
        places = [found.setdefault(value, len(found)) for value in values]
        return Names(tuple(found), np.array(places, np.int64))

    def fit(self, patterns: Sequence[str]) -> NDArray[np.bool_]:
        """Tell which series' text fits."""
        fitting = np.array([fits(text, patterns) for text in self.texts], bool)
        return np.asarray(fitting[self.places]) if len(self.texts) else np.zeros(0, bool)


class Seen:
    """A sight with its measures, as somebody may see it."""

    def __init__(self, sight: Sight, metrics: Mapping[str, Metric]) -> None:
        self.sight = sight
        self.measures: list[Measure] = measures(sight.operations, metrics)
        self._rows = sight.rows
        self._names: dict[str, Names] = {}
        self.places: dict[tuple[str, ...], dict[str, Any]] = {}
        """Servers and targets by the columns told of them, which are the same for everybody."""

    def under(self, rows: pa.Table) -> Self:
        """Return the same with other names of the series; all numbers are shared."""
        _ = self.columns, self.active, self._system, self.kinds
        other = copy(self)
        vars(other).update(_rows=rows, _names={})
        return other

    def names(self, key: str) -> Names:
        """Return a key of every series."""
        if key not in self._names:
            self._names[key] = Names.of(self._texts(key))
        return self._names[key]

    def _texts(self, key: str) -> list[str | None]:
        sight = self.sight
        if key == "server":
            called = [*(server.name for server in sight.servers), None]
            return [called[place] for place in sight.server.tolist()]
        values: list[str | None] = self._rows.column(key).to_pylist()
        return values

    @cached_property
    def kinds(self) -> NDArray[np.str_]:
        """The kind of every series' target."""
        return np.array(self.sight.rows.column("kind").to_pylist(), np.str_)

    @cached_property
    def every_column(self) -> list[Column]:
        """Load, and every measure."""
        sight = self.sight
        told = (m.of(sight.samples, sight.totals, self.kinds) for m in self.measures)
        named = zip(self.measures, told, strict=True)
        found = [Column(m.name, m.unit, values, m.is_metric) for m, values in named]
        return [Column(LOAD, "load", np.nan_to_num(sight.load[0]), is_metric=True), *found]

    @property
    def has_load(self) -> bool:
        """Whether the load of any server is shared out."""
        return any(self.sight.load[1])

    @cached_property
    def columns(self) -> list[Column]:
        """Every measure in which anybody did something; load and the metrics in any case."""
        return [c for c in self.every_column if c.is_metric or c.values.any()]

    def chosen(self, wish: Wish) -> NDArray[np.bool_]:
        """Tell which series a wish is about."""
        chosen = self.active
        for key, patterns in wish.where:
            chosen = chosen & self.names(key).fit(patterns)
        if wish.system is not None:
            chosen = chosen & (self._system == wish.system)
        return chosen

    @cached_property
    def active(self) -> NDArray[np.bool_]:
        """Series that did something."""
        return np.asarray(self.sight.samples.any(axis=1) | self.sight.totals.any(axis=1))

    @cached_property
    def _system(self) -> NDArray[np.bool_]:
        return np.array(self.sight.rows.column("system").to_pylist(), bool)

    def table(self, wish: Wish) -> dict[str, Any]:
        """Return `columns`, `units`, `rows`, and of all rows how many there are and the `sums`."""
        columns = self.shown(wish)
        chosen = np.flatnonzero(self.chosen(wish))
        members, group = self.grouped(wish.by, chosen)
        sums = np.zeros((len(members), len(columns)))
        for n, column in enumerate(columns):
            sums[:, n] = np.bincount(group, column.values[chosen], len(members))
        first, second = (
            np.bincount(group, self.column(name).values[chosen], len(members)).astype(np.float64)
            for name in (self.sort(wish), "iops")
        )
        ranked = _ranked(members, first, second)[: wish.limit]
        return {
            "columns": [*wish.by, *(column.name for column in columns)],
            "units": {column.name: column.unit for column in columns},
            "rows": [[*members[n], *self._numbers(columns, sums[n])] for n in ranked],
            "all_rows": len(members),
            "sums": self._numbers(columns, sums.sum(axis=0)),
        }

    def column(self, name: str) -> Column:
        """Return a column; one that is not known is a `UsageError`."""
        for column in self.every_column:
            if column.name == name:
                return column
        known = ", ".join(column.name for column in self.every_column)
        raise UsageError(f"there is no column {name!r}; known: {known}")

    def shown(self, wish: Wish) -> list[Column]:
        """Return the columns, that by which is sorted in any case."""
        wanted = self.column(wish.sort)
        if wish.columns:
            return [self.column(name) for name in dict.fromkeys((*wish.columns, wish.sort))]
        idle = not (wanted.is_metric or wanted.values.any())
        return [*self.columns, wanted] if idle else self.columns

    def sort(self, wish: Wish) -> str:
        """Return the column that decides: where no load is shared out, requests do."""
        return wish.sort if wish.sort != LOAD or self.has_load else "iops"

    def grouped(
        self, by: Sequence[str], chosen: Numbers
    ) -> tuple[list[tuple[str | None, ...]], Numbers]:
        """Return distinct members, and the place of each chosen series' own."""
        code = np.zeros(len(chosen), np.int64)
        for key in by:
            names = self.names(key)
            _, code = np.unique(
                code * max(len(names.texts), 1) + names.places[chosen], return_inverse=True
            )
        if not len(chosen):
            return [], code
        _, first, group = np.unique(code, return_index=True, return_inverse=True)
        keys = [self.names(key) for key in by]
        members = [
            tuple(names.texts[names.places[chosen[n]]] for names in keys) for n in first.tolist()
        ]
        return members, group

    def _numbers(self, columns: Sequence[Column], sums: Floats) -> list[float | int | None]:
        """Return a row's numbers; where no load is shared out, it is null."""
        untold = not self.has_load
        named = zip(columns, sums.tolist(), strict=True)
        return [None if untold and c.name == LOAD else number(value) for c, value in named]


def _ranked(members: Sequence[tuple[str | None, ...]], first: Floats, second: Floats) -> list[int]:
    """Return places of members, the largest first; equal ones in the order of their names."""

    def key(n: int) -> tuple[Any, ...]:
        names = [(text is None, text or "") for text in members[n]]
        return (-first[n], -second[n], names)

    return sorted(range(len(members)), key=key)


def number(value: float | int | None) -> float | int | None:
    """Return a number with the digits that matter."""
    if value is None or not np.isfinite(value):
        return None
    short = float(f"{value:.{_DIGITS}g}")
    return int(short) if short.is_integer() else short
