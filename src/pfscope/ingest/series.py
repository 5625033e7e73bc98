"""The numbers of series: each new (target, raw id) gets the next one, and a row that tells it.

A flood of ids, a new one for each process, would fill the store with series of nothing: beyond so
many new ones an hour on a target, or so many at one time, the light ones share one series, named
"(others)".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pfscope.config import Config
from pfscope.ingest.ids import Ids, Places
from pfscope.ingest.memory import Memory
from pfscope.lustre.names import filesystem_of
from pfscope.model import IdClass, Identity
from pfscope.store.protocol import Store
from pfscope.store.schema import SERIES
from pfscope.untrusted import ascii_text

Numbers = NDArray[np.int64]

OTHERS: Final = "(others)"
HOUR_US: Final = 3_600_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """What the ingest bears from a flood of ids; beyond a limit the light ones share a series."""

    new_series_per_hour: int = 100_000
    """Of one target."""
    entries_per_target: int = 250_000
    """Series of one target in memory, about 1 kB each. The jobs of a large site make some thousand
    on a target, as Lustre removes what is idle for ten minutes; a flood stops at 250 MB."""


class _New(NamedTuple):
    """Series of one target that were numbered together, from `first` on."""

    target: str
    seen_us: int
    first: int
    places: Places
    """What their ids say; see `Ids`."""


@dataclass(slots=True)
class _Budget:
    """How many new series a target had in the hour that began."""

    hour: int = 0
    used: int = 0


class SeriesNumbers:
    """Numbers new series and keeps their rows until they are stored."""

    def __init__(self, next_series: int, config: Config, limits: Limits, memory: Memory) -> None:
        self.next_series = next_series
        self.others: dict[str, int] = {}
        """The series of each target that the light ones of a flood share."""
        self.known: Mapping[tuple[str, str], int] = {}
        """Series that are in the store, though not in the memory that was restored."""
        self.now_us = 0
        self.folded = 0
        """Ids that had to share a series, since it was last asked."""
        self._limits = limits
        self._memory = memory
        self._budgets: dict[str, _Budget] = {}
        self.ids = Ids(config)
        """What they say."""
        self._rows: list[_New] = []

    def __call__(
        self, target: str, ids: Sequence[bytes], weights: NDArray[Any]
    ) -> tuple[Numbers, NDArray[np.int8]]:
        """Number new series of a target; where it has too many, the heavy ones first."""
        places = self.ids.places(filesystem_of(target), ids)
        numbers = self._recalled(target, ids)
        fresh = self._affordable(target, weights) & (numbers < 0)
        numbers[fresh] = self._new(target, places[fresh])
        folded = numbers < 0
        if folded.any():
            self.folded += int(np.count_nonzero(folded))
            numbers[folded] = self._shared(target)
        return numbers, self.ids.qualities(places)

    def resume(self, store: Store) -> None:
        """Go on behind what the store has; what it has beyond the memory keeps its number."""
        query = "SELECT series, target, entry_id FROM series WHERE series >= ?"
        rows = store.query(query, [self.next_series]).to_pylist()
        self.known = {(row["target"], row["entry_id"]): row["series"] for row in rows}
        self.others |= {row["target"]: row["series"] for row in rows if row["entry_id"] == OTHERS}
        self.next_series = store.next_series()

    def take_rows(self) -> pa.Table:
        """Return the rows of the series that were numbered since the last call."""
        new, self._rows = self._rows, []
        table = SERIES.empty_table()
        if new:
            said = self.ids.rows(np.concatenate([each.places for each in new]))
            table = _series_table(new, said)
        self.ids.trim()
        return table

    def _recalled(self, target: str, ids: Sequence[bytes]) -> Numbers:
        """Return the numbers that are in the store already, -1 for the others."""
        if not self.known:
            return np.full(len(ids), -1, np.int64)
        return np.array([self.known.get((target, ascii_text(raw)), -1) for raw in ids], np.int64)

    def _affordable(self, target: str, weights: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell which of the new ids may have a series of their own."""
        budget = self._budgets.setdefault(target, _Budget())
        hour = self.now_us // HOUR_US
        if hour != budget.hour:
            budget.hour, budget.used = hour, 0
        left = self._limits.new_series_per_hour - budget.used
        allowed = max(0, min(len(weights), left, self._room(target, len(weights))))
        budget.used += allowed
        if allowed == len(weights):
            return np.ones(allowed, np.bool_)
        own = np.zeros(len(weights), np.bool_)
        own[np.argsort(-weights, kind="stable")[:allowed]] = True
        return own

    def _room(self, target: str, wanted: int) -> int:
        """Return how many of the wanted series, or more, a target may still have in memory."""
        room = self._limits.entries_per_target - self._memory.held(target)
        if room < wanted and target in self.others:
            room += self._memory.held(target, self.others[target])
        return room

    def _shared(self, target: str) -> int:
        if target not in self.others:
            place = self.ids.add(OTHERS.encode(), Identity(IdClass.FOREIGN))
            self.others[target] = int(self._new(target, np.array([place]))[0])
        return self.others[target]

    def _new(self, target: str, places: Places) -> Numbers:
        first = self.next_series
        self.next_series += len(places)
        if len(places):
            self._rows.append(_New(target, self.now_us, first, places))
        return np.arange(first, self.next_series)


def _series_table(new: Sequence[_New], said: pa.Table) -> pa.Table:
    """Return the rows of new series, given what their ids say."""
    sizes = [len(each.places) for each in new]
    of_each = pa.array(np.repeat(np.arange(len(new)), sizes))
    few = {
        "filesystem": [filesystem_of(each.target) for each in new],
        "target": [each.target for each in new],
        "kind": ["ost" if "-OST" in each.target else "mdt" for each in new],
        "first_seen": [each.seen_us for each in new],
    }
    columns = {name: said.column(name) for name in said.column_names}
    for name, values in few.items():
        columns[name] = pa.array(values, SERIES.field(name).type).take(of_each)
    numbers = [np.arange(each.first, each.first + len(each.places)) for each in new]
    columns["series"] = pa.array(np.concatenate(numbers), SERIES.field("series").type)
    return pa.table([columns[name] for name in SERIES.names], schema=SERIES)
