"""The numbers of series: each new (target, raw id) gets the next one, and a row that tells it.

A flood of ids, a new one for each process, would fill the store with series of nothing: beyond so
many new ones an hour on a target, the light ones share one series, named "(others)".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

import pyarrow as pa

from pfscope.config import Config
from pfscope.lustre.names import filesystem_of
from pfscope.model import IdClass, Identity
from pfscope.store.protocol import Store
from pfscope.store.schema import SERIES
from pfscope.untrusted import ascii_text

OTHERS: Final = "(others)"
NEW_PER_HOUR: Final = 100_000
HOUR_US: Final = 3_600_000_000
CLASSES: Final = list(IdClass)
_FIELDS: Final = (
    "job", "array_job", "array_task", "user", "group", "node", "executable", "process",
)  # fmt: skip
_PLACES: Final = {id_class: place for place, id_class in enumerate(CLASSES)}
_TOLD: Final = ("entry_id", "class", "system", *_FIELDS)


def quality_of(identity: Identity) -> int:
    """Return class and system mark as one small number; see `class_and_system`."""
    return 2 * _PLACES[identity.id_class] + identity.system


def class_and_system(quality: int) -> tuple[str, bool]:
    """Undo `quality_of`."""
    return CLASSES[quality // 2].value, bool(quality % 2)


class _Told(NamedTuple):
    """What an id says, ready to be stored: many targets show the same ids."""

    columns: tuple[Any, ...]
    """By `_TOLD`."""
    quality: int


def _told(raw: bytes, identity: Identity) -> _Told:
    values = [getattr(identity, name) for name in _FIELDS]
    fields = [None if value is None else ascii_text(value) for value in values]
    columns = ascii_text(raw), identity.id_class.value, identity.system, *fields
    return _Told(columns, quality_of(identity))


@dataclass(slots=True)
class _Budget:
    """How many new series a target had in the hour that began."""

    hour: int = 0
    used: int = 0


class SeriesNumbers:
    """Numbers new series and keeps their rows until they are stored."""

    def __init__(self, next_series: int, config: Config, new_per_hour: int = NEW_PER_HOUR) -> None:
        self.next_series = next_series
        self.others: dict[str, int] = {}
        """The series of each target that the light ones of a flood share."""
        self.known: Mapping[tuple[str, str], int] = {}
        """Series that are in the store, though not in the memory that was restored."""
        self.now_us = 0
        self.folded = 0
        """Ids that had to share a series, since it was last asked."""
        self._config = config
        self._new_per_hour = new_per_hour
        self._budgets: dict[str, _Budget] = {}
        self._rows: list[tuple[int, str, _Told, int]] = []
        self._tell = lru_cache(1 << 16)(self._told)

    def __call__(
        self, keys: list[tuple[str, bytes]], weights: list[int]
    ) -> tuple[list[int], list[int]]:
        """Number new series; where a target has too many, the heavy ones first."""
        numbers, qualities = [0] * len(keys), [0] * len(keys)
        places: dict[str, list[int]] = {}
        for place, (target, _) in enumerate(keys):
            places.setdefault(target, []).append(place)
        for target, its_places in places.items():
            filesystem = filesystem_of(target)
            affordable = self._afford(target, len(its_places))
            if affordable < len(its_places):
                its_places.sort(key=lambda place: -weights[place])
            for rank, place in enumerate(its_places):
                raw = keys[place][1]
                told = self._tell(filesystem, raw)
                numbers[place] = self._number(target, told, rank < affordable)
                qualities[place] = told.quality
        return numbers, qualities

    def resume(self, store: Store) -> None:
        """Go on behind what the store has; what it has beyond the memory keeps its number."""
        query = "SELECT series, target, entry_id FROM series WHERE series >= ?"
        rows = store.query(query, [self.next_series]).to_pylist()
        self.known = {(row["target"], row["entry_id"]): row["series"] for row in rows}
        self.others |= {row["target"]: row["series"] for row in rows if row["entry_id"] == OTHERS}
        self.next_series = store.next_series()

    def take_rows(self) -> pa.Table:
        """Return the rows of the series that were numbered since the last call."""
        rows, self._rows = self._rows, []
        numbers, targets, told, times = zip(*rows, strict=True) if rows else ((),) * 4
        columns = {
            "series": numbers,
            "filesystem": [filesystem_of(target) for target in targets],
            "target": targets,
            "kind": ["ost" if "-OST" in target else "mdt" for target in targets],
            "first_seen": times,
        }
        by_field = zip(*(each.columns for each in told), strict=True)
        columns |= dict(zip(_TOLD, by_field, strict=False))
        arrays = [pa.array(columns.get(field.name, ()), field.type) for field in SERIES]
        return pa.Table.from_arrays(arrays, schema=SERIES)

    def _told(self, filesystem: str, raw: bytes) -> _Told:
        return _told(raw, self._config.identifier(filesystem).identify(raw))

    def _number(self, target: str, told: _Told, affordable: bool) -> int:
        entry_id = told.columns[0]
        if self.known and (number := self.known.get((target, entry_id))) is not None:
            return number
        if affordable:
            return self._new(target, told)
        self.folded += 1
        if target not in self.others:
            others = _told(OTHERS.encode(), Identity(IdClass.FOREIGN))
            self.others[target] = self._new(target, others)
        return self.others[target]

    def _afford(self, target: str, wanted: int) -> int:
        """Return how many of the wanted new series a target may have in this hour."""
        budget = self._budgets.setdefault(target, _Budget())
        hour = self.now_us // HOUR_US
        if hour != budget.hour:
            budget.hour, budget.used = hour, 0
        allowed = max(0, min(wanted, self._new_per_hour - budget.used))
        budget.used += allowed
        return allowed

    def _new(self, target: str, told: _Told) -> int:
        number = self.next_series
        self.next_series += 1
        self._rows.append((number, target, told, self.now_us))
        return number
