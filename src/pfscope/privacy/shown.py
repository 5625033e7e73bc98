"""Who is who of the last minutes, as an audience sees it: shared, but for what is somebody's own.

Pseudonyms of all series are the same for everybody and made once a day; of each audience it is only
remembered which series it sees by name. So a hundred people who watch share nearly all work.
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
_DAYS: Final = 2
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
        self._own: OrderedDict[tuple[Audience, int], tuple[Numbers, Numbers]] = OrderedDict()

    def rows(self, sight: Sight, audience: Audience) -> pa.Table:
        """Return the rows of a sight, with the names that an audience sees."""
        numbers = sight.rows.column("series").to_numpy().astype(np.int64)
        moment = sight.time_us or 0
        key = self._pseudonyms.of(moment)
        with self._guard:
            hidden = self._of_day(key).rows(numbers)
            if not audience.sees_somebody:
                return hidden
            own = self._seen_by(audience, moment // _HOUR_US, numbers)
        mask = pa.array(np.isin(numbers, own, assume_unique=True))
        columns = [
            pc.if_else(mask, real.combine_chunks(), alias.combine_chunks().cast(real.type))
            for real, alias in zip(sight.rows.columns, hidden.columns, strict=True)
        ]
        return pa.table(columns, names=sight.rows.column_names)

    def _of_day(self, key: DayKey) -> Series:
        """Return the pseudonyms of a day."""
        series = self._aliases.pop(key.day, None)
        if series is None:
            series = Series(_OfThese(self._store, key, self._login))
        self._aliases[key.day] = series
        if len(self._aliases) > _DAYS:
            self._aliases.popitem(last=False)
        return series

    def _seen_by(self, audience: Audience, hour: int, numbers: Numbers) -> Numbers:
        """Return which series an audience sees by name; what the scheduler says may come later."""
        known, own = self._own.pop((audience, hour), (_NONE, _NONE))
        fresh = numbers[~np.isin(numbers, known, assume_unique=True)]
        if len(fresh):
            own = np.union1d(own[np.isin(own, numbers)], self._ask(audience, fresh))
        self._own[audience, hour] = numbers, own
        if len(self._own) > _AUDIENCES:
            self._own.popitem(last=False)
        return own

    def _ask(self, audience: Audience, numbers: Numbers) -> Numbers:
        condition, parameters = audience.condition()
        question = f"SELECT series FROM main.series WHERE {_THESE} AND ({condition})"
        found = self._store.query(question, [numbers.tolist(), *parameters])
        return np.asarray(found.column("series").to_numpy(), np.int64)


class _OfThese:
    """A store in which all names are pseudonyms, asked about some series alone."""

    def __init__(self, store: Queryable, key: DayKey, login_nodes: Sequence[str]) -> None:
        self._of = store, Audience(), key, login_nodes

    def query(self, sql: str, parameters: Sequence[object] = ()) -> pa.Table:
        """Return the rows; the parameter is the list of series."""
        return Masked(*self._of, within=(_THESE, parameters)).query(sql, parameters)
