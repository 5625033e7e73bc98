"""Who and what the series of the last minutes are, with what the scheduler says of their jobs."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pfscope.now.recent import Queryable

Numbers = NDArray[np.int64]
KEYS: Final = (
    "filesystem", "target", "kind", "class", "user", "group", "project", "job", "array", "node",
    "executable", "partition",
)  # fmt: skip
"""What series can be grouped and filtered by; servers and operations are no part of them."""
_ASKED: Final = """
    WITH wanted AS (
        SELECT * FROM series WHERE series IN (SELECT unnest(?::INTEGER[]))
    ), said AS (
        SELECT * FROM jobs WHERE job IN (SELECT job FROM wanted)
        QUALIFY row_number() OVER (PARTITION BY job ORDER BY recorded DESC) = 1
    )
    SELECT w.series, w.filesystem, w.target, w.kind, w.class, w.system, w.job, w."user", w.node,
        w.executable, w.array_job AS "array", coalesce(w."group", s."group") AS "group",
        s.project, s.partition
    FROM wanted w LEFT JOIN said s ON w.job = s.job ORDER BY w.series
"""
_SPARE: Final = 4


class Series:
    """A table of series that asks the store for those that it does not know yet."""

    def __init__(self, store: Queryable) -> None:
        self._store = store
        self._numbers: Numbers = np.empty(0, np.int64)
        self._rows: pa.Table | None = None

    def rows(self, wanted: Numbers) -> pa.Table:
        """Return a row of each series; the numbers rise."""
        known = np.isin(wanted, self._numbers, assume_unique=True)
        if self._rows is None or not known.all():
            self._learn(wanted[~known])
        assert self._rows is not None
        if len(self._numbers) > _SPARE * max(len(wanted), 1024):
            self._keep(self._rows.take(pa.array(np.searchsorted(self._numbers, wanted))))
        return self._rows.take(pa.array(np.searchsorted(self._numbers, wanted)))

    def _learn(self, missing: Numbers) -> None:
        found = self._store.query(_ASKED, [missing.tolist()])
        rows = [found] if self._rows is None else [self._rows, found]
        self._keep(pa.concat_tables(rows).sort_by("series").combine_chunks())

    def _keep(self, rows: pa.Table) -> None:
        self._rows = rows.combine_chunks()
        self._numbers = rows.column("series").to_numpy().astype(np.int64)


def text_of(rows: pa.Table, key: str) -> list[str | None]:
    """Return a key of each series."""
    values: Sequence[str | None] = rows.column(key).to_pylist()
    return list(values)
