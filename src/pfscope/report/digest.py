"""What the sections of a day's or a week's report share: the period, the past, what was found."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from pfscope.errors import InputError
from pfscope.query.data import Data
from pfscope.report import numbers
from pfscope.report.asking import Asking, totals_words
from pfscope.report.markup import Child
from pfscope.report.page import Page
from pfscope.times import iso, time_us

DAY_US: Final = 86_400 * 10**6
_COMPLETE_US: Final = 600 * 10**6
"""A day is over when it was observed until so shortly before its end."""


@dataclass(frozen=True)
class Measure:
    """Something that a report tells of everything."""

    metric: str
    title: str
    unit: str
    explained: str


MEASURES: Final = (
    Measure("metadata", "Metadata", "requests", "requests to MDTs, weighted by what they cost"),
    Measure("read_bytes", "Read", "bytes", "bytes read"),
    Measure("write_bytes", "Written", "bytes", "bytes written"),
    Measure("iops", "Requests", "requests", "requests of all kinds to all targets"),
)


@dataclass(frozen=True)
class Finding:
    """One line of the summary."""

    text: Child
    level: str = "notable"
    """notable or warn."""


@dataclass
class Digest:
    """A period under report."""

    asking: Asking
    """The period."""
    start_us: int
    end_us: int
    page: Page
    findings: list[Finding] = field(default_factory=list)

    @property
    def length_us(self) -> int:
        """How long the period is, whatever there is data of."""
        return self.end_us - self.start_us

    @property
    def word(self) -> str:
        """What the period is."""
        return "day" if self.length_us <= DAY_US else "week"

    def find(self, text: Child, level: str = "notable") -> None:
        """Add a line to the summary."""
        self.findings.append(Finding(text, level))

    def earlier(self, days: int) -> Asking:
        """Return the same period so many days before."""
        return self.asking.during(self.start_us - days * DAY_US, self.end_us - days * DAY_US)

    @cached_property
    def before(self) -> Asking | None:
        """The period before this one, if there is data of it."""
        return observed(self.earlier(self.length_us // DAY_US))

    @cached_property
    def week_before(self) -> Asking | None:
        """The same day of the week before, if there is data of it."""
        return observed(self.earlier(7)) if self.length_us < 7 * DAY_US else None

    @cached_property
    def measures(self) -> list[Measure]:
        """What can be told of: no measure of operations that this data never had."""
        return [
            measure
            for measure in MEASURES
            if self.asking.maybe("top", **totals_words(measure.metric)) is not None
        ]

    def mean(self, asking: Asking | None, metric: str) -> float | None:
        """Return the mean rate of all there was of a metric."""
        if asking is None:
            return None
        return float(sum(row["rate_mean"] for row in asking.totals(metric).to_pylist()))


def observed(asking: Asking) -> Asking | None:
    """Return a period in which something was observed."""
    return asking if asking.observed else None


def days(data: Data, date: str | None, count: int, words: dict[str, Any]) -> tuple[int, int]:
    """Return when the days begin and end: until `date`, or else until the last day that is over."""
    if date:
        start = time_us(date, now_us=0) // DAY_US * DAY_US
        return start - (count - 1) * DAY_US, start + DAY_US
    newest = Asking(data, words=words).end_us
    end = (newest + _COMPLETE_US) // DAY_US * DAY_US
    if not Asking(data, iso(end - DAY_US), iso(end), words).observed:
        end += DAY_US
    return end - count * DAY_US, end


def digest(data: Data, date: str | None, count: int, words: dict[str, Any]) -> Digest:
    """Return the digest of some days."""
    start, end = days(data, date, count, words)
    asking = Asking(data, iso(start), iso(end), words)
    if not asking.observed:
        raise InputError(f"nothing was observed on {numbers.day(end - 1)}: name another --date")
    title = f"{'A day' if count == 1 else 'A week'} of {', '.join(filesystems(asking))}"
    when = (
        numbers.weekday(start) if count == 1 else f"{numbers.day(start)} to {numbers.day(end - 1)}"
    )
    page = Page(title, f"{when}, observed {numbers.span(asking.start_us, asking.end_us)}")
    return Digest(asking, start, end, page)


def filesystems(asking: Asking) -> list[str]:
    """Return the file systems, the busiest first."""
    return [str(row["filesystem"]) for row in asking.totals("iops").to_pylist()]
