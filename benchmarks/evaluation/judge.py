"""Compares what was said with what was true."""

import math
from dataclasses import asdict, dataclass, field
from statistics import median

from benchmarks.evaluation.ways import START_US

INTERVALS = 3
INTERVAL_US = 120 * 10**6
MONTH_DAYS = 30.0
_AFTER_US = 900 * 10**6
"""What is found so long after the end of a trouble may still be about it."""


@dataclass
class Verdict:
    """Figures of one run, or of several that were added up."""

    scenario: str
    preset: str
    days: float = 0.0
    troubles: int = 0
    found: int = 0
    """Found at all."""
    in_time: int = 0
    """Found within three intervals."""
    paged: int = 0
    first: int = 0
    """The true user (and job, where there is a single one) is the first cause."""
    among: int = 0
    pages: int = 0
    true_pages: int = 0
    unfounded: int = 0
    """Pages beside the troubles in which, in truth, nobody makes most of a large increase."""
    delays: list = field(default_factory=list)

    def __add__(self, other):
        sums = {
            name: value + getattr(other, name)
            for name, value in asdict(self).items() if name not in ("scenario", "preset")
        }  # fmt: skip
        return Verdict(self.scenario, self.preset, **sums)

    def row(self):
        """Return the figures as people read them; None where there is nothing to count."""
        return {
            "scenario": self.scenario, "preset": self.preset, "days": round(self.days, 1),
            "troubles": self.troubles,
            "recall": _part(self.found, self.troubles),
            "in_time": _part(self.in_time, self.troubles),
            "delay": median(self.delays) if self.delays else None,
            "first": _part(self.first, self.troubles),
            "among_3": _part(self.among, self.troubles),
            "paged": _part(self.paged, self.troubles),
            "pages": self.pages,
            "precision": _part(self.true_pages, self.pages),
            "other_pages_month": _a_month(self.pages - self.true_pages, self.days),
            "false_pages_month": _a_month(self.unfounded, self.days),
        }  # fmt: skip


def _part(count, of):
    return round(count / of, 3) if of else None


def _a_month(count, days):
    return round(count * MONTH_DAYS / days, 2) if days else None


def judge(scenario, preset, story, live):
    """Return the verdict on a run."""
    verdict = Verdict(scenario, preset, story.hours / 24)
    said = sorted(live.said.values(), key=lambda s: s.found_us)
    about = {id(s) for trouble in story.troubles for s in said if _fits(trouble, s)}
    for trouble in story.troubles:
        verdict.troubles += 1
        mine = [s for s in said if _fits(trouble, s)]
        if mine:
            _count(verdict, trouble, mine)
    pages = [s for s in said if s.paged_us is not None]
    verdict.pages = len(pages)
    verdict.true_pages = sum(id(s) in about for s in pages)
    verdict.unfounded = sum(id(s) not in about and not s.founded for s in pages)
    return verdict


def _count(verdict, trouble, mine):
    delay = math.ceil((mine[0].found_us - _us(trouble.due_s)) / INTERVAL_US)
    verdict.found += 1
    verdict.in_time += delay <= INTERVALS
    verdict.delays.append(max(delay, 0))
    verdict.paged += any(s.paged_us is not None for s in mine)
    users = [cause.user for cause in mine[0].last.causes]
    verdict.first += users[:1] == [trouble.user]
    verdict.among += trouble.user in users[:3]


def _us(seconds):
    return START_US + round(seconds * 1e6)


def _fits(trouble, said):
    """Tell whether something may be about a trouble: at its time, and where it is."""
    start_us, end_us = _us(trouble.start_s), _us(trouble.end_s)
    where = not trouble.targets or set(trouble.targets) & set(said.last.targets)
    return start_us < said.found_us <= end_us + _AFTER_US and bool(where)
