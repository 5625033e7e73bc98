"""A batch of runs with their records placed by file, and what their tables have in common."""

from collections.abc import Iterator
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa

from pfscope.mine.darshan_runs import FILE_MODULES, Run, days, gather
from pfscope.mine.darshan_stripes import Stripes
from pfscope.mine.merging import Ints, Known, Part, Placed, distinct, earliest, latest, total
from pfscope.mine.parts import ROWS
from pfscope.mine.schema import table_schema

Columns = dict[str, pa.Array]
VOLUME_MODULES: Final = ("POSIX", "STDIO", "DFS")
"""Modules whose bytes are those that reach the file system, each byte once."""


class Batch:
    """Runs in order of day, job and digest, with their records placed by file."""

    def __init__(self, runs: list[Run]) -> None:
        self.runs = sorted(runs, key=lambda run: run.order)
        gathered = {module: gather(self.runs, module) for module in FILE_MODULES}
        self.records = {module: found for module, found in gathered.items() if found is not None}
        self.nprocs = np.array([run.job.nprocs for run in self.runs], np.int64)
        self.stripes = Stripes(self.runs)
        parts = [(found.run, found.ids) for found in self.records.values()]
        (self.run, self.ids), places = distinct([*parts, (self.stripes.run, self.stripes.ids)])
        self.stripes.place(places[-1])
        self.places = dict(zip(self.records, places, strict=False))
        self.placed = {m: Placed(r, self.places[m]) for m, r in self.records.items()}

    @cached_property
    def ranks(self) -> tuple[Ints, Ints]:
        """Return how many ranks used each file, and the one that did where it is one alone."""
        several = np.zeros(len(self.ids), np.int64)
        only = np.full(len(self.ids), -1)
        nprocs = self.nprocs[self.run]
        if self.records:
            parts = [(self.places[m], found.ranks) for m, found in self.records.items()]
            (place, rank), _ = distinct(parts)
            np.add.at(several, place, 1)
            only[place] = rank
            everybody = place[rank < 0]
            several[everybody] = nprocs[everybody]
            only[everybody] = -1
        only[(several != 1)] = -1
        only[(several == 1) & (nprocs == 1)] = 0
        return several, only

    def slices(self) -> Iterator[tuple[str, int, int]]:
        """Yield rows that are made together: of one day, and not too many."""
        for date, first, behind in days(self.runs):
            low, high = np.searchsorted(self.run, [first, behind]).tolist()
            for begin in range(low, high, ROWS):
                yield date, begin, min(begin + ROWS, high)


def as_table(name: str, columns: Columns, size: int) -> pa.Table:
    """Return a table of the lake; columns that are not there are null."""
    schema = table_schema(name)
    arrays = [
        columns[field.name].cast(field.type)
        if field.name in columns
        else pa.nulls(size, field.type)
        for field in schema
    ]
    return pa.table(arrays, schema=schema)


def run_columns(batch: Batch, run: Ints) -> Columns:
    """Return what all tables of Darshan say of the run."""
    runs, rows = batch.runs, pa.array(run)
    return {
        "log": pa.array([r.digest for r in runs]).take(rows),
        "job_id": pa.array([str(r.job.job_id) for r in runs]).take(rows),
        "start": pa.array([r.job.start_us for r in runs]).take(rows),
        "nprocs": pa.array(batch.nprocs[run]),
    }


def activity(parts: dict[str, Part]) -> Columns:
    """Return bytes, spans and times spent, of all modules that reach the file system."""
    used = {module: part for module, part in parts.items() if module in VOLUME_MODULES}
    columns: Columns = {}
    if not used:
        return columns
    for way, done in (("read", "READ"), ("write", "WRITTEN")):
        columns[f"bytes_{done.lower()}"] = total(
            [part.merged(f"{m}_BYTES_{done}", "sum") for m, part in used.items()]
        ).arrow()
        begin, end = span(used, way)
        columns[f"{way}_start_s"], columns[f"{way}_end_s"] = begin.arrow(), end.arrow()
    for way in ("read", "write", "meta"):
        spent = [part.merged(f"{m}_F_{way.upper()}_TIME", "sum") for m, part in used.items()]
        columns[f"{way}_s"] = total(spent).arrow()
    return columns


def span(parts: dict[str, Part], way: str) -> tuple[Known, Known]:
    """Return first begin and last end of the reads, or writes, of records that moved any bytes."""
    done = {"read": "READ", "write": "WRITTEN"}[way]
    begins, ends = [], []
    for module, part in parts.items():
        moved = part.raw(f"{module}_BYTES_{done}").values > 0
        begin = part.raw(f"{module}_F_{way.upper()}_START_TIMESTAMP").where(moved)
        end = part.raw(f"{module}_F_{way.upper()}_END_TIMESTAMP").where(moved)
        begins.append(part.together(begin, "min"))
        ends.append(part.together(end, "max"))
    return earliest(begins), latest(ends)
