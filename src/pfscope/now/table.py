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
from pfscope.now.measures import Measure, measures, without_own
from pfscope.now.patterns import fits
from pfscope.now.sight import Floats, Numbers, Server, Sight
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
        columns = self._shown(wish)
        order = [column.name for column in columns]
        sort = wish.sort if wish.sort != LOAD or self.has_load else "iops"
        chosen = np.flatnonzero(self.chosen(wish))
        members, group = self._grouped(wish.by, chosen)
        sums = np.zeros((len(members), len(columns)))
        for n, column in enumerate(columns):
            sums[:, n] = np.bincount(group, column.values[chosen], len(members))
        ranked = _ranked(members, sums, order.index(sort), order.index("iops"))
        return {
            "columns": [*wish.by, *order],
            "units": {column.name: column.unit for column in columns},
            "rows": [[*members[n], *self._numbers(sums[n])] for n in ranked[: wish.limit]],
            "all_rows": len(members),
            "sums": self._numbers(sums.sum(axis=0)),
        }

    def _shown(self, wish: Wish) -> list[Column]:
        """Return the columns, that by which is sorted in any case."""
        wanted = [column for column in self.every_column if column.name == wish.sort]
        if not wanted:
            known = ", ".join(column.name for column in self.every_column)
            raise UsageError(f"sort by {known}, not by {wish.sort!r}")
        idle = [column for column in wanted if not (column.is_metric or column.values.any())]
        return self.columns + idle

    def _grouped(
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

    def _numbers(self, sums: Floats) -> list[float | None]:
        """Return a row's numbers; where no load is shared out, its column, the first, is null."""
        first, *others = (_number(value) for value in sums.tolist())
        return [first if self.has_load else None, *others]

    @cached_property
    def places(self) -> dict[str, Any]:
        """Return `servers` and `targets`, which are the same for everybody."""
        return {"servers": self.servers(), "targets": self.targets()}

    def servers(self) -> list[dict[str, Any]]:
        """Return what each server is under, does, and is not told about."""
        load, how = self.sight.load
        found = []
        for place, server in enumerate(self.sight.servers):
            here = self.sight.server == place
            targets = [name for name, at in self.sight.targets.items() if at == place]
            told = {
                "server": server.name,
                "targets": sorted(targets),
                "load": _number(server.load),
                "load_told": _number(load[here].sum()) if how[place] else None,
                "estimate": how[place],
                **_figures(server),
                **self._counted(here, targets),
            }
            found.append(_times(server) | told)
        return found

    def targets(self) -> list[dict[str, Any]]:
        """Return what each target does, and what of it no id is told for."""
        of = self.names("target")
        found = []
        for target, place in sorted(self.sight.targets.items()):
            at = of.texts.index(target) if target in of.texts else -1
            server = self.sight.servers[place].name
            counted = self._counted(of.places == at, [target])
            told = {"target": target, "kind": _kind(target), "server": server}
            found.append(told | counted)
        return found

    def _counted(self, here: NDArray[np.bool_], targets: Sequence[str]) -> dict[str, Any]:
        """Return rates by metric as ids tell them, and the share of requests that none tells."""
        rates = {
            column.name: _number(column.values[here].sum())
            for column in self.columns
            if column.name != LOAD
        }
        return {"rates": rates, "unattributed": self._unattributed(here, targets)}

    def _unattributed(
        self, here: NDArray[np.bool_], targets: Sequence[str]
    ) -> dict[str, float | None]:
        """Return by metric which share of what targets counted themselves no id is told for."""
        own = [(name, *self.sight.own[name]) for name in targets if name in self.sight.own]
        shares: dict[str, float | None] = {}
        for measure in (m for m in self.measures if m.is_metric):
            fair = without_own(measure, self.sight.operations)
            counted = sum(
                float(fair.of(samples, totals, np.array([_kind(name)])).sum())
                for name, samples, totals in own
            )
            told = fair.of(self.sight.samples[here], self.sight.totals[here], self.kinds[here])
            left = max(counted - float(told.sum()), 0.0)
            shares[measure.name] = _number(left / counted) if counted else None
        return shares


def _kind(target: str) -> str:
    return "ost" if "-OST" in target else "mdt"


def _times(server: Server) -> dict[str, Any]:
    interval_s = server.interval_us / 1e6 if server.interval_us else None
    return {"time_us": server.time_us, "interval_s": interval_s, "silent": server.silent}


def _figures(server: Server) -> dict[str, float | int | None]:
    names = ("load_1", "load_5", "load_15", "cpu_busy", "cpu_iowait")
    sizes = ("memory_total", "memory_available")
    figures = server.figures
    return {name: _number(figures.get(name)) for name in names} | {n: figures.get(n) for n in sizes}


def _ranked(
    members: Sequence[tuple[str | None, ...]], sums: Floats, sort: int, then: int
) -> list[int]:
    """Return places of members, the first first; equal ones in the order of their names."""

    def key(n: int) -> tuple[Any, ...]:
        names = [(text is None, text or "") for text in members[n]]
        return (-sums[n, sort], -sums[n, then], names)

    return sorted(range(len(members)), key=key)


def _number(value: float | int | None) -> float | int | None:
    """Return a number with the digits that matter."""
    if value is None or not np.isfinite(value):
        return None
    short = float(f"{value:.{_DIGITS}g}")
    return int(short) if short.is_integer() else short
