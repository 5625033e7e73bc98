"""Slurm's accounting into the lake: allocations and steps, each of them once."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pfscope.errors import InputError
from pfscope.logs.slurm import Form, SacctBatch, iter_sacct
from pfscope.mine.importing import Source, Summary, Watch
from pfscope.mine.inputs import Found
from pfscope.mine.lake import Lake
from pfscope.mine.schema import table_schema
from pfscope.mine.telling import Told, import_tellings
from pfscope.mine.upsert import Rule

ENDINGS: Final = (".txt", ".log", ".csv", ".slurm", ".json", ".gz", ".zst")
_AT_ONCE: Final = 200_000
"""Records that are compared with the lake together."""
_BETTER: Final = (
    "begun DESC",
    '("end" IS NOT NULL) DESC',
    "start DESC",
    "elapsed_s DESC NULLS LAST",
)
RULES: Final = {
    "slurm": Rule("slurm", _BETTER, "submit"),
    "slurm_step": Rule("slurm_step", _BETTER, "start"),
}

Read = Callable[[str], Iterator[bytes]]
"""Reads a file's content, whatever it is compressed with."""


class Reading(NamedTuple):
    """How texts are to be read."""

    read: Read
    form: Form = "auto"
    fields: tuple[str, ...] | None = None
    time_zone: str = "UTC"


def import_slurm(lake: Lake, source: Source, reading: Reading, watch: Watch) -> Summary:
    """Import all files that are not known yet, one after another."""

    def read(found: Found, told: Told) -> Iterator[dict[str, pa.Table]]:
        batches = iter_sacct(
            reading.read(found.path),
            form=reading.form,
            fields=reading.fields,
            time_zone=reading.time_zone,
        )
        for some in _lots(batches):
            yield _tables(some, found.digest, told)

    return import_tellings(lake, source, RULES, read, watch)


def _lots(batches: Iterable[SacctBatch]) -> Iterator[list[SacctBatch]]:
    """Yield batches, many records together; what was read before an error comes before it."""
    waiting: list[SacctBatch] = []
    stream = iter(batches)
    while True:
        try:
            batch = next(stream, None)
        except InputError:
            yield waiting
            raise
        if batch is not None:
            waiting.append(batch)
        if batch is None or sum(b.allocations.num_rows for b in waiting) >= _AT_ONCE:
            yield waiting
            waiting = []
        if batch is None:
            return


def _tables(batches: list[SacctBatch], log: str, told: Told) -> dict[str, pa.Table]:
    for batch in batches:
        for reason, count in batch.defects.rejected.items():
            told.missing[reason] += count
        for column, count in batch.defects.unread.items():
            told.missing[f"value of {column} that is not understood"] += count
    return {
        "slurm": _rows("slurm", [b.allocations for b in batches], log, told),
        "slurm_step": _rows("slurm_step", [b.steps for b in batches], log, told),
    }


def _rows(table: str, batches: list[pa.RecordBatch], log: str, told: Told) -> pa.Table:
    """Make rows of the lake from those of sacct; of a job that waits, the start is the submit."""
    schema = table_schema(table)
    if not batches:
        return schema.empty_table()
    rows = pa.Table.from_batches(batches)
    names = ["job_id" if name == "job" else name for name in rows.column_names]
    rows = rows.rename_columns(names).drop_columns("line")
    begun = pc.is_valid(rows["start"])
    times = [rows[name] for name in ("start", "submit", "eligible", "end") if name in names]
    rows = rows.set_column(names.index("start") - 1, "start", pc.coalesce(*times))
    rows = rows.append_column("begun", begun)
    rows = rows.append_column("log", pa.array([log] * rows.num_rows, pa.string()))
    timed = rows.filter(pc.is_valid(rows["start"]))
    if timed.num_rows < rows.num_rows:
        told.missing["record without any time"] += rows.num_rows - timed.num_rows
    return timed.select(schema.names).cast(schema)
