"""Who is who of the last minutes, as an audience sees it: shared, but for what is somebody's own.

Pseudonyms of all series are the same for everybody and made once a day; of each audience only the
rows are kept that it sees by name. So a hundred people who watch share nearly all work.
"""

# ruff: noqa: S608 - what is put together here are names of the schema; values are parameters

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pfscope.now.series import Series
from pfscope.now.sight import Sight
from pfscope.privacy.audience import Audience
from pfscope.privacy.masked import Masked
from pfscope.privacy.pseudonyms import DayKey, Pseudonyms
from pfscope.query.engine import Queryable

Numbers = NDArray[np.int64]
_THESE: Final = "series IN (SELECT unnest(?::INTEGER[]))"
_AUDIENCES: Final = 1024
_DAYS: Final = 8
_HOUR_US: Final = 3600 * 10**6
_NONE: Final = np.empty(0, np.int64)


class Shown:
    """Tells for any sight, and any audience, how each series is called; any thread may ask."""

    def __init__(
        self, store: Queryable, pseudonyms: Pseudonyms, login_nodes: Sequence[str] = ()
    ) -> None:
        self._store, self._pseudonyms, self._login = store, pseudonyms, login_nodes
        self._guard = threading.Lock()
        self._aliases: OrderedDict[str, Series] = OrderedDict()
        self._own: OrderedDict[tuple[Audience, int], tuple[Numbers, pa.Table | None]] = (
            OrderedDict()
        )

    def rows(self, sight: Sight, audience: Audience) -> pa.Table:
        """Return the rows of a sight, with the names that an audience sees."""
        numbers = sight.rows.column("series").to_numpy().astype(np.int64)
        moment = sight.time_us or 0
        key = self._pseudonyms.of(moment)
        with self._guard:
            hidden = self._of_day(key).rows(numbers)
            if not audience.sees_somebody:
                return hidden
            own = self._own_rows(audience, key, moment // _HOUR_US, numbers)
        return _with(hidden, numbers, own)

    def _of_day(self, key: DayKey) -> Series:
        """Return the pseudonyms of a day."""
        series = self._aliases.pop(key.day, None)
        if series is None:
            series = Series(_OfThese(self._store, Audience(), key, self._login))
        self._aliases[key.day] = series
        if len(self._aliases) > _DAYS:
            self._aliases.popitem(last=False)
        return series

    def _own_rows(
        self, audience: Audience, key: DayKey, hour: int, numbers: Numbers
    ) -> pa.Table | None:
        """Return the rows that an audience sees by name; the scheduler may tell more in an hour."""
        known, own = self._own.pop((audience, hour), (_NONE, None))
        fresh = numbers[~np.isin(numbers, known, assume_unique=True)]
        if len(fresh):
            found = self._ask(audience, key, fresh)
            own = found if own is None else pa.concat_tables([own, found]).sort_by("series")
        self._own[audience, hour] = numbers, own
        if len(self._own) > _AUDIENCES:
            self._own.popitem(last=False)
        return own

    def _ask(self, audience: Audience, key: DayKey, numbers: Numbers) -> pa.Table:
        condition, parameters = audience.condition()
        question = f"SELECT series FROM main.series WHERE {_THESE} AND ({condition})"
        found = self._store.query(question, [numbers.tolist(), *parameters])
        seen = np.sort(found.column("series").to_numpy()).astype(np.int64)
        return Series(_OfThese(self._store, audience, key)).rows(seen)


def _with(hidden: pa.Table, numbers: Numbers, own: pa.Table | None) -> pa.Table:
    """Return rows with those of our own in their places; what is not there any more is left out."""
    ours = _NONE if own is None else own.column("series").to_numpy().astype(np.int64)
    here = np.isin(ours, numbers, assume_unique=True)
    if own is None or not here.any():
        return hidden
    mask, rows = pa.array(np.isin(numbers, ours, assume_unique=True)), own.filter(pa.array(here))
    columns = [
        pc.replace_with_mask(
            hidden.column(name).combine_chunks(), mask, rows.column(name).combine_chunks()
        )
        for name in hidden.column_names
    ]
    return pa.table(columns, names=hidden.column_names)


class _OfThese:
    """A store as an audience may see it, asked about some series alone."""

    def __init__(
        self, store: Queryable, audience: Audience, key: DayKey, login_nodes: Sequence[str] = ()
    ) -> None:
        self._of = store, audience, key, login_nodes

    def query(self, sql: str, parameters: Sequence[object] = ()) -> pa.Table:
        """Return the rows; the parameter is the list of series."""
        return Masked(*self._of, within=(_THESE, parameters)).query(sql, parameters)
