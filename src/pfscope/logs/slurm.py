"""Slurm's accounting as Arrow: what `sacct --parsable2`, `--parsable` or `--json` printed.

Text of any length is read in bounded memory, batch by batch. Jobs and steps are two tables, so that
nobody counts a job once for each of its steps. All records of a job are kept; `latest` picks.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pfscope.logs import slurm_values as values
from pfscope.logs.slurm_defects import Defects, Place
from pfscope.logs.slurm_json import iter_json_cells
from pfscope.logs.slurm_lines import NO_CELLS, Cells, iter_cells
from pfscope.logs.slurm_tables import ALLOCATIONS, STEPS, WANTED, SacctBatch, tabulate

__all__ = ["ALLOCATIONS", "STEPS", "Defects", "Form", "Place", "SacctBatch", "iter_sacct", "latest"]

Form = Literal["auto", "parsable", "json"]
_JSON: Final = re.compile(rb"\s*[{\[]")
_LEADING_SPACE: Final = 1 << 20


def iter_sacct(
    chunks: Iterable[bytes],
    *,
    form: Form = "auto",
    fields: Sequence[str] | None = None,
    time_zone: str = "UTC",
) -> Iterator[SacctBatch]:
    """Read what sacct printed; the batches' defects are each of that batch alone.

    `fields` names the columns of a text without a header, as sacct's `--format` did. `time_zone` is
    that of the times, the one in which sacct ran. InputError: the text is no such thing.
    """
    times = values.times(time_zone)
    defects = Defects()
    for cells in _cells(chunks, form, fields, defects):
        yield tabulate(cells, times, defects.taken())
    if defects:
        yield tabulate(NO_CELLS, times, defects.taken())


def _cells(
    chunks: Iterable[bytes], form: Form, fields: Sequence[str] | None, defects: Defects
) -> Iterator[Cells]:
    stream = iter(chunks)
    head = b""
    for chunk in stream:
        head += chunk
        if head.strip() or len(head) > _LEADING_SPACE:
            break
    whole = chain((head,), stream)
    if form == "json" or (form == "auto" and _JSON.match(head)):
        return iter_json_cells(whole, defects)
    return iter_cells(whole, fields, WANTED, defects)


def latest(allocations: pa.Table) -> pa.Table:
    """Return the last word on each job: submitted last, then started last, then ended, then read.

    A job that was queued again, and a job that got the number of an old one, have several records.
    """
    if not allocations.num_rows:
        return allocations
    jobs = allocations["job"].combine_chunks().dictionary_encode().indices.to_numpy()
    ended = pc.is_valid(allocations["end"]).to_numpy()
    lines = allocations["line"].to_numpy()
    order = np.lexsort((lines, ended, _instants(allocations, "start"),
                        _instants(allocations, "submit"), jobs))  # fmt: skip
    last = np.append(jobs[order][1:] != jobs[order][:-1], [True])
    return allocations.take(np.sort(order[last]))


def _instants(table: pa.Table, column: str) -> NDArray[np.int64]:
    """Return times as numbers; a time that is not known comes before all others."""
    earliest = np.iinfo(np.int64).min
    found: NDArray[np.int64] = pc.fill_null(table[column].cast(pa.int64()), earliest).to_numpy()
    return found
