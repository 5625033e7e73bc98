"""Runs that tests explain: rows of a lake with one run, and what is found of it."""

from contextlib import contextmanager
from datetime import UTC, datetime

from pfscope.mine.explain import findings, gather_facts
from pfscope.mine.factors_rules import rules
from pfscope.mine.sources import open_lake
from tests.support.mine_lake import lake_of_rows
from tests.support.mine_tables import files, jobs

START = datetime(2022, 10, 27, tzinfo=UTC)


def lake_of_run(place, given, job=None, **tables):
    """Return a lake with one run and these files."""
    of_run = {"start": START, "job_id": "17"}
    rows = [{**of_run, **file} for file in given]
    row = {**of_run, "files": len(rows), "end": START, **(job or {})}
    return lake_of_rows(
        place, f"{START:%Y-%m-%d}", darshan_job=jobs(row), darshan_file=files(*rows), **tables
    )


@contextmanager
def facts_of(place, given, job=None, *, tables=(), among=False, **asked):
    """Bring together what is known of such a run."""
    with open_lake(lake_of_run(place / "lake", given, job, **dict(tables))) as opened:
        yield gather_facts(opened, "a", rules(**asked), opened if among else None)


def found(place, given, job=None, **more):
    """Return the findings by their codes."""
    with facts_of(place, given, job, **more) as facts:
        return {finding.code: finding for finding in findings(facts)}
