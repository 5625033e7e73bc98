"""The watch as it happens: step by step, and what it would have told people when.

At each step at which something new was found, the incidents are worked out from what is known by
then. One is found when it is there for the first time, and a page when it is a warning or worse.
"""

from dataclasses import dataclass

from pfscope.watch.grouping import group
from pfscope.watch.incidents import incidents
from pfscope.watch.model import Severity
from pfscope.watch.severity import severity
from pfscope.watch.trend import Trends

PAGES = (Severity.WARNING, Severity.CRITICAL)
_REMEMBERED_US = 2 * 3600 * 10**6
"""What began earlier is known, and nothing new is said of it."""


@dataclass
class Said:
    """What was said about one incident."""

    found_us: int
    last: object
    """The incident as it was told latest."""
    paged_us: int | None = None
    page: object = None
    """The incident as it was when it paged."""
    founded: bool = True
    """The page is right that a user makes most of a large increase."""


class Live:
    """Trends and what follows from them.

    With `pages_only` nobody asks for what cannot page, and nobody asks before `from_us`: what was
    found then is of no interest.
    """

    def __init__(self, data, *, pages_only=False, truth=None, from_us=0):
        self.trends, self._data, self._pages_only = Trends(()), data, pages_only
        self._truth, self._from_us = truth, from_us
        self._changes = {}
        self.changes = 0
        """How many were found so far."""
        self.said = {}
        self._paging = set()

    def step(self, time_us, begin_us, values, observed=True):
        """Take a step: values and what was observed, in the order of the trends' signals."""
        told = self.trends.update(time_us, begin_us, values, observed)
        self.changes += sum(change.end_us is None for change in told)
        if not told:
            return
        for change in (*told, *self.trends.ongoing()):
            self._changes[change.signal, change.start_us] = change
        since_us = time_us - _REMEMBERED_US
        self._changes = {key: c for key, c in self._changes.items() if c.start_us > since_us}
        groups = group(self._changes.values())
        paging = {found.start_us for found in groups if _pages(found)}
        new = any(change.end_us is None for change in told) or paging - self._paging
        self._paging = paging
        if time_us >= self._from_us and new and (paging or not self._pages_only):
            for incident in incidents(self._data, self._changes.values(), time_us):
                self._tell(time_us, incident)

    def _tell(self, time_us, incident):
        said = self.said.setdefault(incident.id, Said(time_us, incident))
        said.last = incident
        if said.paged_us is None and incident.severity in PAGES:
            said.paged_us, said.page = time_us, incident
            said.founded = self._truth is None or self._truth(incident, time_us)


def _pages(found):
    return severity(found.lead, "") in PAGES
