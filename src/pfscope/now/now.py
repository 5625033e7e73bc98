"""Answers what happens now, or happened at a moment, from the last minutes before it."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from pfscope.errors import InputError
from pfscope.now.recent import Queryable, Recent, Tables, recorded
from pfscope.now.series import Series
from pfscope.now.servers import places, with_parts
from pfscope.now.sight import Sight
from pfscope.now.table import Seen
from pfscope.now.wish import Wish
from pfscope.query.asked import Site
from pfscope.times import iso, time_us

Document = dict[str, Any]
NOTHING = "nothing was observed in the ten minutes before"


class Now:
    """One store and what was committed to it lately; any thread may ask.

    The last sights are kept: everybody who asks the same between two observations shares one.
    """

    def __init__(self, store: Queryable, site: Site, recent: Recent | None = None) -> None:
        self._store, self._site = store, site
        self._recent = recent
        self._guard = threading.Lock()
        self._series = Series(store)
        self._kept: dict[int | None, tuple[int, Seen]] = {}

    @property
    def version(self) -> int:
        """Grows with every observation; always 0 where nothing is committed any more."""
        return self._recent.version if self._recent else 0

    def seen(self, wish: Wish) -> Seen:
        """Return the rates that a wish is about."""
        if wish.at is not None or self._recent is None:
            return self._then(wish)
        with self._guard:
            version, tables = self._recent.look()
            kept = self._kept.get(wish.over_us)
            if kept is None or kept[0] != version:
                self._forget(version)
                kept = version, self._made(tables, self._series, wish.over_us)
                self._kept[wish.over_us] = kept
            return kept[1]

    def document(self, wish: Wish, shown: Callable[[Sight], pa.Table] | None = None) -> Document:
        """Return the answer to a wish; `shown` tells how series are called."""
        seen = self.seen(wish)
        if seen.sight.time_us is None:
            raise InputError(NOTHING)
        told = places(seen, wish)
        seen = seen.under(shown(seen.sight)) if shown else seen
        return {
            "about": _about(seen, wish, live=wish.at is None and self._recent is not None),
            **with_parts(told, seen, wish),
            **seen.table(wish),
        }

    def _forget(self, version: int) -> None:
        self._kept = {over: kept for over, kept in self._kept.items() if kept[0] == version}

    def _then(self, wish: Wish) -> Seen:
        newest = self._newest_us()
        until = newest if wish.at is None else time_us(wish.at, now_us=newest)
        return self._made(recorded(self._store, until), Series(self._store), wish.over_us)

    def _newest_us(self) -> int:
        found = self._store.query("SELECT epoch_us(max(time)) AS time FROM frames").to_pylist()
        if found[0]["time"] is None:
            raise InputError("there is nothing in this store yet: nothing was observed")
        return int(found[0]["time"])

    def _made(self, tables: Tables, series: Series, over_us: int | None) -> Seen:
        return Seen(Sight(tables, series, self._operations(), over_us), self._site.metrics)

    def _operations(self) -> Sequence[tuple[str, str]]:
        rows = self._store.query("SELECT name, unit FROM operations ORDER BY operation").to_pylist()
        return [(row["name"], row["unit"]) for row in rows]


def _about(seen: Seen, wish: Wish, *, live: bool) -> Document:
    moment = seen.sight.time_us
    assert moment is not None  # else there was no answer
    return {
        "time": iso(moment),
        "time_us": moment,
        "by": list(wish.by),
        "sort": wish.sort,
        "over_s": None if wish.over_us is None else wish.over_us / 1e6,
        "live": live,
    }
