"""Incidents of data that is at hand: found anew by going through the past."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from pfscope.errors import InputError, UsageError
from pfscope.query.catalog import Catalog
from pfscope.query.data import Data
from pfscope.query.local import LocalSource
from pfscope.query.results import Result
from pfscope.watch.batch import watch
from pfscope.watch.wanted import Wanted
from pfscope.watch.written import as_result, plain, row

LEARN_US: Final = 2 * 86_400 * 10**6
"""So long before a period is read, too: it tells what is usual."""
_ID = re.compile(r"(\d{8}T\d{4})-[0-9a-f]{6}")
_HOUR_US: Final = 3600 * 10**6
_LONGEST_US: Final = 2 * 86_400 * 10**6
Progress = Callable[[float], None]
"""Hears which part of the work is done."""


class WatchedSource(LocalSource):
    """A store that can be asked for incidents, too."""

    progress: Progress = staticmethod(lambda _part: None)

    def incidents(self, words: Mapping[str, Sequence[str]]) -> Result:
        """Return the incidents of a period, by the columns of `written.SCHEMA`."""
        newest_us = self._newest_us()
        wanted = Wanted.read(words, newest_us)
        found = self._found(wanted.start_us, min(wanted.end_us, newest_us))
        return as_result((row(each) for each in found if wanted.fits(each)), wanted.about())

    def incident(self, name: str) -> dict[str, Any]:
        """Return one incident with its evidence, found by the time in its id."""
        found_us = found_at_us(name)
        end_us = min(found_us + _LONGEST_US, self._newest_us())
        for each in self._found(found_us - _HOUR_US, end_us):
            if each["id"] == name:
                return row(each)
        raise no_incident(name)

    def _found(self, start_us: int, end_us: int) -> list[dict[str, Any]]:
        first_us = Catalog.read(self.engine).first_us or 0
        learn_us = min(LEARN_US, max(start_us - first_us, 0))
        if end_us <= start_us:
            return []
        incidents = watch(Data(self), start_us, end_us, learn_us, self.progress)
        return [plain(incident) for incident in incidents]

    def _newest_us(self) -> int:
        newest_us = Catalog.read(self.engine).last_us
        if newest_us is None:
            raise InputError("nothing was observed yet: the store is empty")
        return newest_us


def found_at_us(name: str) -> int:
    """Return the time in an incident's id."""
    match = _ID.fullmatch(name)
    if not match:
        raise UsageError(f"{name!r} is no incident's id, such as 20221027T0830-1f0c22")
    moment = datetime.fromisoformat(f"{match[1]}+00:00")
    return int(moment.timestamp()) * 10**6


def no_incident(name: str) -> InputError:
    """Return the error that tells that there is none."""
    return InputError(f"there is no incident {name} in the data")
