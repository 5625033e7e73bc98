"""What every series did at the last observation of its server, and what that server was under.

A rate is that of equation C5 at the observation: an increment over its own interval. With a longer
stretch it is the mean of the stretch, increments cut to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pfscope.now.recent import Tables
from pfscope.now.series import Series
from pfscope.query.load import TIMED_AT_LEAST
from pfscope.query.load_server import Lines

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
_MINUTE_US: Final = 60 * 10**6
_SILENT_INTERVALS: Final = 3


@dataclass(frozen=True)
class Server:
    """A server at its last observation."""

    name: str
    time_us: int
    interval_us: int
    """Since the observation before; 0 where there was none."""
    silent: bool
    """It should have been observed again since."""
    load: float | None
    """What it was under in the last minute: Linux' damping undone."""
    figures: Mapping[str, float | int | None]
    """What else its last row of `server_load` has."""


class Sight:
    """The last minutes, seen from their newest observation."""

    def __init__(
        self,
        tables: Tables,
        series: Series,
        operations: Sequence[tuple[str, str]],
        over_us: int | None = None,
    ) -> None:
        self._tables = tables
        self.operations = tuple(operations)
        self._over_us = over_us
        frames = tables["frames"]
        stored = frames.filter(pc.equal(frames.column("state"), "stored"))
        self.time_us: int | None = pc.max(stored.column("time").cast(pa.int64())).as_py()
        self.servers = _servers(stored, tables["server_load"])
        self._place = {server.name: n for n, server in enumerate(self.servers)}
        self.targets: dict[str, int] = self._placed()
        """The place of each target's server in `servers`."""
        used, seen = self._used()
        known = series.rows(seen)
        numbers = known.column("series").to_numpy().astype(np.int64)
        self.rows = known
        """Who and what each series is."""
        targets = known.column("target").to_pylist()
        self.server = np.array([self.targets.get(t, -1) for t in targets], np.int64)
        """The place of each series' server."""
        self.samples, self.totals = self._rates(used, numbers)

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    @cached_property
    def lines(self) -> Lines:
        """What the numbered operations hold."""
        return Lines.of(self.operations)

    @cached_property
    def own(self) -> dict[str, tuple[Floats, Floats]]:
        """Rates of samples and totals that targets counted themselves, by target."""
        rows = self._tables["target_totals"]
        names, places = _codes(rows.column("target"))
        server = np.array([self.targets.get(name, -1) for name in names], np.int64)[places]
        weight = self._weights(rows, server)
        return {
            name: self._summed(rows, weight * (places == n), np.zeros(len(places), np.int64), 1)
            for n, name in enumerate(names)
            if name in self.targets and (weight[places == n] > 0).any()
        }

    @cached_property
    def requests(self) -> Floats:
        """Requests per second of each series."""
        return np.asarray(self.samples[:, sorted(self.lines.requests)].sum(axis=1))

    @cached_property
    def load(self) -> tuple[Floats, list[str | None]]:
        """Each series' part of its server's load, and how that was told on each server.

        `service` is the mean number of requests being served, where enough of them tell their time;
        `equal` gives every request the same part of what the server was under.
        """
        load: Floats = np.full(len(self), np.nan)
        how: list[str | None] = []
        timed = sorted(self.lines.timed)
        for place, server in enumerate(self.servers):
            here = self.server == place
            requests = self.requests[here].sum()
            told = self.samples[np.ix_(here, timed)].sum() if timed else 0.0
            if requests and told >= TIMED_AT_LEAST * requests:
                load[here] = self.totals[np.ix_(here, timed)].sum(axis=1) / 1e6
                how.append("service")
            elif server.load is not None:
                of_all = max(self._own_requests(place), requests)
                load[here] = self.requests[here] * (server.load / of_all if of_all else 0.0)
                how.append("equal")
            else:
                how.append(None)
        return load, how

    def _own_requests(self, place: int) -> float:
        lines = sorted(self.lines.requests)
        here = (name for name, at in self.targets.items() if at == place and name in self.own)
        return float(sum(self.own[name][0][0, lines].sum() for name in here))

    def _placed(self) -> dict[str, int]:
        """Return where each target was last seen."""
        placed: dict[str, int] = {}
        for name in ("target_totals", "quality"):
            rows = self._tables[name].select(["time", "target", "server"])
            last = rows.group_by(["target", "server"]).aggregate([("time", "max")])
            for row in last.sort_by("time_max").to_pylist():
                if row["server"] in self._place:
                    placed[row["target"]] = self._place[row["server"]]
        return placed

    def _used(self) -> tuple[pa.Table, Numbers]:
        """Return rows that can reach into what is looked at, and their series."""
        both = pa.concat_tables([self._tables["usage_mdt"], self._tables["usage_ost"]])
        spans = [self._span(server) for server in self.servers]
        earliest = min((s.time_us - w for s, w in zip(self.servers, spans, strict=True)), default=0)
        late = pc.greater(both.column("time").cast(pa.int64()), earliest)
        used = both.filter(pc.and_(late, pc.invert(both.column("baseline"))))
        return used, np.unique(used.column("series").to_numpy()).astype(np.int64)

    def _span(self, server: Server) -> int:
        """Return how long a stretch of a server is looked at; 0: nothing of it."""
        if server.silent:
            return 0
        return self._over_us if self._over_us is not None else server.interval_us

    def _rates(self, used: pa.Table, numbers: Numbers) -> tuple[Floats, Floats]:
        """Return rates of samples and of totals: a row for each series, a column by operation."""
        of = used.column("series").to_numpy().astype(np.int64)
        known = np.isin(of, numbers)
        row = np.searchsorted(numbers, of)
        row[~known] = 0
        server = self.server[row] if len(self.server) else np.full(len(row), -1, np.int64)
        return self._summed(used, self._weights(used, server) * known, row, len(numbers))

    def _weights(self, rows: pa.Table, server: Numbers) -> Floats:
        """Return which part of each row lies in its server's stretch, per second."""
        if not self.servers:
            return np.zeros(rows.num_rows)
        end = _micros(rows, "time")
        begin = np.minimum(_micros(rows, "begin"), end - 1)
        upto = np.array([s.time_us for s in self.servers], np.int64)[server]
        span = np.array([self._span(s) for s in self.servers], np.int64)[server]
        inside = np.clip(np.minimum(end, upto) - np.maximum(begin, upto - span), 0, None)
        weight = inside / (end - begin) / (np.maximum(span, 1) / 1e6)
        return np.where((server >= 0) & (span > 0), weight, 0.0)

    def _summed(
        self, rows: pa.Table, weight: Floats, place: Numbers, count: int
    ) -> tuple[Floats, Floats]:
        width = max(len(self.operations), 1)
        cell = place * width + rows.column("operation").to_numpy().astype(np.int64)

        def summed(name: str) -> Floats:
            values = rows.column(name).to_numpy() * weight
            sums = np.bincount(cell, values, count * width).astype(np.float64)
            return sums.reshape(count, width)

        return summed("samples"), summed("total")


def _servers(frames: pa.Table, loads: pa.Table) -> list[Server]:
    """Return every server that was observed, by name."""
    names, places = _codes(frames.column("server"))
    times = _micros(frames, "time")
    newest = int(times.max()) if len(times) else 0
    by_name = _split(loads)
    found = []
    for n, name in enumerate(names):
        seen = np.unique(times[places == n])
        last = int(seen[-1])
        interval = int(seen[-1] - seen[-2]) if len(seen) > 1 else 0
        silent = newest - last > max(_SILENT_INTERVALS * interval, _MINUTE_US)
        rows = by_name.get(name, [])
        load, figures = _undamped(rows), dict(rows[-1]) if rows else {}
        found.append(Server(name, last, interval, silent, load, figures))
    return sorted(found, key=lambda server: server.name)


def _split(loads: pa.Table) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each server, the oldest first; their times are numbers."""
    rows: dict[str, list[dict[str, Any]]] = {}
    at = loads.schema.get_field_index("time")
    plain = loads.set_column(at, "time_us", loads.column("time").cast(pa.int64()))
    for row in plain.sort_by("time_us").to_pylist():
        rows.setdefault(row.pop("server"), []).append(row)
    return rows


def _undamped(rows: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the load in the last minute, as two damped values a minute apart tell it."""
    told = [(row["time_us"], row["load_1"]) for row in rows if row["load_1"] is not None]
    if not told:
        return None
    now_us, now = told[-1]
    before = [(time_us, load) for time_us, load in told if now_us - time_us >= _MINUTE_US]
    if not before:
        return float(now)
    then_us, then = before[-1]
    kept = float(np.exp((then_us - now_us) / _MINUTE_US))
    return float(max((now - kept * then) / (1.0 - kept), 0.0))


def _codes(column: pa.ChunkedArray) -> tuple[list[str], Numbers]:
    """Return distinct texts, and for each row the place of its own."""
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return encoded.dictionary.to_pylist(), codes


def _micros(rows: pa.Table, name: str) -> Numbers:
    return np.asarray(rows.column(name).cast(pa.int64()).to_numpy(), np.int64)
