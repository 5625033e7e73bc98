"""What entry ids say, ready to be stored: rows of one table, since many targets show the same ids.

An id is identified once, as long as it is kept; its place is where its row is.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pfscope.config import Config
from pfscope.lustre.identity import Identifier
from pfscope.model import IdClass, Identity
from pfscope.store.schema import SERIES
from pfscope.untrusted import ascii_text

Places = NDArray[np.int64]

KEPT: Final = 32_768
"""More ids are forgotten all at once; those that still come are identified anew."""
CLASSES: Final = list(IdClass)
_PLACES: Final = {id_class: place for place, id_class in enumerate(CLASSES)}
_FIELDS: Final = (
    "job", "array_job", "array_task", "user", "group", "node", "executable", "process",
)  # fmt: skip
_values = attrgetter(*_FIELDS)
_SCHEMA: Final = pa.schema([SERIES.field(n) for n in ("entry_id", "class", "system", *_FIELDS)])


def quality_of(identity: Identity) -> int:
    """Return class and system mark as one small number; see `class_and_system`."""
    return 2 * _PLACES[identity.id_class] + identity.system


def class_and_system(quality: int) -> tuple[str, bool]:
    """Undo `quality_of`."""
    return CLASSES[quality // 2].value, bool(quality % 2)


class Ids:
    """The table of ids, to which unknown ones are added."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._known: dict[str, _Known] = {}
        self._qualities: list[int] = []
        self._fresh: list[tuple[Any, ...]] = []
        """Rows that are not in the table yet."""
        self._table = _SCHEMA.empty_table()

    def __len__(self) -> int:
        return len(self._qualities)

    def places(self, filesystem: str, ids: Sequence[bytes]) -> Places:
        """Return the place of each id of a file system."""
        if filesystem not in self._known:
            self._known[filesystem] = _Known(self, self._config.identifier(filesystem))
        return np.fromiter(map(self._known[filesystem].__getitem__, ids), np.int64, len(ids))

    def add(self, raw: bytes, identity: Identity) -> int:
        """Add an id of which it is known what it says; return its place."""
        fields = [None if value is None else ascii_text(value) for value in _values(identity)]
        self._fresh.append((ascii_text(raw), identity.id_class.value, identity.system, *fields))
        self._qualities.append(quality_of(identity))
        return len(self._qualities) - 1

    def qualities(self, places: Places) -> NDArray[np.int8]:
        """Return the quality of the ids at some places."""
        found = map(self._qualities.__getitem__, places.tolist())
        return np.fromiter(found, np.int8, len(places))

    def rows(self, places: Places) -> pa.Table:
        """Return the rows at some places."""
        if self._fresh:
            columns = zip(*self._fresh, strict=True)
            arrays = [pa.array(c, f.type) for c, f in zip(columns, _SCHEMA, strict=True)]
            fresh = pa.Table.from_arrays(arrays, schema=_SCHEMA)
            self._table = pa.concat_tables([self._table, fresh]).combine_chunks()
            self._fresh = []
        return self._table.take(pa.array(places))

    def trim(self) -> None:
        """Forget all ids if they are too many; no place that was returned means anything then."""
        if len(self) > KEPT:
            self._known, self._qualities, self._fresh = {}, [], []
            self._table = _SCHEMA.empty_table()


class _Known(dict[bytes, int]):
    """The places of a file system's ids."""

    def __init__(self, ids: Ids, identifier: Identifier) -> None:
        super().__init__()
        self._ids, self._identifier = ids, identifier

    def __missing__(self, raw: bytes) -> int:
        place = self[raw] = self._ids.add(raw, self._identifier.identify(raw))
        return place
