"""Imports of files that tell of many days, and of things that other files tell of too.

Rows are put together with those of the lake by key, so that files may overlap, and be given again.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from pfscope.errors import InputError
from pfscope.mine.importing import Fresh, Source, Summary, Watch, batch_name, commit
from pfscope.mine.inputs import Found, Period, find
from pfscope.mine.lake import Lake
from pfscope.mine.parts import Parts
from pfscope.mine.records import PERIOD_REASON, Imports, Record
from pfscope.mine.schema import TABLES
from pfscope.mine.upsert import Rule, upsert

_REASONS = 5


class Told:
    """What a file told so far, and what of it is not in the lake."""

    def __init__(self) -> None:
        self.missing: Counter[str] = Counter()
        self.rows = 0
        self.first_us: int | None = None
        self.last_us: int | None = None

    def reason(self) -> str | None:
        """Return what is missing, in words; None: nothing."""
        return "; ".join(f"{n} × {what}" for what, n in self.missing.most_common(_REASONS)) or None

    def count(self, times: pa.ChunkedArray) -> None:
        """Count rows that are taken, by their times."""
        found = pc.min_max(times.cast(pa.int64())).as_py()
        if found["min"] is not None:
            known = [us for us in (self.first_us, found["min"]) if us is not None]
            self.first_us, self.last_us = min(known), max(self.last_us or 0, found["max"])
        self.rows += len(times)


Tables = dict[str, pa.Table]
Read = Callable[[Found, Told], Iterator[Tables]]
"""Yields the rows of a file, some at a time."""


def import_tellings(
    lake: Lake, source: Source, rules: Mapping[str, Rule], read: Read, watch: Watch
) -> Summary:
    """Import all files that are not known yet, one after another."""
    candidates = list(find(source.paths, source.endings))
    watch.total(len(candidates))
    imports = Imports(lake)
    # Such a file may be in quarantine because it was asked for in another way.
    fresh = Fresh(imports, source._replace(again=True), watch)
    records = []
    for found in fresh.of(candidates):
        records.append(tell(lake, source, found, rules, read, imports))
        watch.done(1)
    for record in fresh.unreadable:
        _commit_record(lake, record)
    return Summary(len(candidates), (*records, *fresh.unreadable))


def tell(
    lake: Lake,
    source: Source,
    found: Found,
    rules: Mapping[str, Rule],
    read: Read,
    imports: Imports | None = None,
) -> Record:
    """Import one file, and record what became of it unless that is known."""
    record = _import(lake, source, found, rules, read)
    if imports is None or not imports.same(record):
        _commit_record(lake, record)
    return record


def _import(
    lake: Lake, source: Source, found: Found, rules: Mapping[str, Rule], read: Read
) -> Record:
    """Import one file, some rows after others."""
    told = Told()
    broken: str | None = None
    try:
        for tables in read(found, told):
            _commit_rows(lake, _fresh_name(found), tables, rules, source, told)
    except InputError as error:
        # What was read before the file broke off is as good as any.
        broken = str(error)
    reason = "; ".join(filter(None, (broken, told.reason()))) or None
    if reason and not told.rows and not told.missing[PERIOD_REASON]:
        record = Record.quarantined(found, reason, source.kind)
    else:
        record = Record.read(found, reason, None, told.first_us, told.last_us, source.kind)
    return record.with_rows(told.rows)


def _fresh_name(found: Found) -> str:
    """Return the name of a batch: a file may be given again, for other days or in another way."""
    return batch_name([found.digest, str(time.time_ns())])


def _commit_rows(
    lake: Lake, batch: str, tables: Tables, rules: Mapping[str, Rule], source: Source, told: Told
) -> None:
    parts = Parts(lake.staging(batch), batch)
    replaced = []
    for name, rows in tables.items():
        when = TABLES[name].when or ""
        inside = _inside(rows, when, source.period)
        if inside.num_rows < rows.num_rows:
            told.missing[PERIOD_REASON] += rows.num_rows - inside.num_rows
        told.count(inside[when])
        replaced += upsert(lake, parts, rules[name], inside)
    lake.commit(batch, replaced)


def _inside(rows: pa.Table, when: str, period: Period) -> pa.Table:
    times = rows[when].cast(pa.int64())
    if period.from_us is not None:
        rows = rows.filter(pc.greater_equal(times, period.from_us))
        times = rows[when].cast(pa.int64())
    if period.to_us is not None:
        rows = rows.filter(pc.less(times, period.to_us))
    return rows


def _commit_record(lake: Lake, record: Record) -> None:
    batch = batch_name([record.log, str(record.imported)])
    lake.staging(batch)
    commit(lake, batch, [record])
