"""The numbers of series: each new (target, raw id) gets the next one, and a row that tells it.

A flood of ids, a new one for each process, would fill the store with series of nothing: beyond so
many new ones an hour on a target, the light ones share one series, named "(others)".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

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


def quality_of(identity: Identity) -> int:
    """Return class and system mark as one small number; see `class_and_system`."""
    return 2 * CLASSES.index(identity.id_class) + identity.system


def class_and_system(quality: int) -> tuple[str, bool]:
    """Undo `quality_of`."""
    return CLASSES[quality // 2].value, bool(quality % 2)


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
        self._rows: list[dict[str, Any]] = []

    def __call__(
        self, keys: list[tuple[str, bytes]], weights: list[int]
    ) -> tuple[list[int], list[int]]:
        """Number new series, the heavy ones first."""
        numbers, qualities = [0] * len(keys), [0] * len(keys)
        for i in sorted(range(len(keys)), key=lambda i: -weights[i]):
            target, raw = keys[i]
            identity = self._config.identifier(filesystem_of(target)).identify(raw)
            numbers[i] = self._number(target, raw, identity)
            qualities[i] = quality_of(identity)
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
        return pa.Table.from_pylist(rows, SERIES)

    def _number(self, target: str, raw: bytes, identity: Identity) -> int:
        text = ascii_text(raw)
        if (number := self.known.get((target, text))) is not None:
            return number
        if self._affordable(target):
            return self._new(target, text, identity)
        self.folded += 1
        if target not in self.others:
            self.others[target] = self._new(target, OTHERS, Identity(IdClass.FOREIGN))
        return self.others[target]

    def _affordable(self, target: str) -> bool:
        budget = self._budgets.setdefault(target, _Budget())
        hour = self.now_us // HOUR_US
        if hour != budget.hour:
            budget.hour, budget.used = hour, 0
        budget.used += 1
        return budget.used <= self._new_per_hour

    def _new(self, target: str, text: str, identity: Identity) -> int:
        number = self.next_series
        self.next_series += 1
        fields = {name: getattr(identity, name) for name in _FIELDS}
        self._rows.append(
            {
                "series": number,
                "filesystem": filesystem_of(target),
                "target": target,
                "kind": "ost" if "-OST" in target else "mdt",
                "entry_id": text,
                "class": identity.id_class.value,
                "system": identity.system,
                **{k: None if v is None else ascii_text(v) for k, v in fields.items()},
                "first_seen": self.now_us,
            }
        )
        return number
