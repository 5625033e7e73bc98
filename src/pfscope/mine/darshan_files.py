"""`darshan_file`: the records of a batch of runs put together by file, some rows at a time."""

from typing import Final

import numpy as np
import pyarrow as pa

from pfscope.mine.darshan_batch import (
    VOLUME_MODULES,
    Batch,
    Columns,
    activity,
    as_table,
    run_columns,
    span,
)
from pfscope.mine.darshan_named import kinds, mounts_of, names_of
from pfscope.mine.darshan_ranks import accesses, extremes
from pfscope.mine.darshan_runs import FILE_MODULES
from pfscope.mine.merging import Flags, Ints, Known, Part, earliest, latest
from pfscope.mine.schema_darshan import COUNTERS

_ALL: Final = (*FILE_MODULES, "LUSTRE")


def file_rows(batch: Batch, begin: int, end: int) -> pa.Table:
    """Make those rows of the table."""
    parts = {m: placed.between(begin, end) for m, placed in batch.placed.items()}
    run = batch.run[begin:end]
    ids = batch.ids[begin:end]
    columns = run_columns(batch, run)
    columns |= _what(batch, run, ids)
    columns |= _modules(batch, parts, run, begin)
    columns |= _ranks(batch, begin, end)
    columns |= activity(parts)
    columns |= _flushed_and_meta(parts, batch.nprocs[run])
    if "POSIX" in parts:
        columns |= extremes(parts["POSIX"]) | accesses(parts["POSIX"])
    columns |= batch.stripes.columns(begin, end)
    columns |= {
        counter.column: parts[counter.module].merged(counter.name, counter.merge).arrow()
        for counter in COUNTERS
        if counter.module in parts
    }
    return as_table("darshan_file", columns, end - begin)


def _flushed_and_meta(parts: dict[str, Part], nprocs: Ints) -> Columns:
    used = {module: part for module, part in parts.items() if module in VOLUME_MODULES}
    if not used:
        return {}
    opens, ends, flushed = [], [], []
    for module, part in used.items():
        opens.append(part.merged(f"{module}_F_OPEN_START_TIMESTAMP", "min"))
        ends.append(part.merged(f"{module}_F_CLOSE_END_TIMESTAMP", "max"))
        ends.append(part.merged(f"{module}_F_OPEN_END_TIMESTAMP", "max"))
        flushed.append(_flushed(module, part, nprocs))
    return {
        "meta_start_s": earliest(opens).arrow(),
        "meta_end_s": latest(ends).arrow(),
        "write_flush_end_s": latest(flushed).arrow(),
    }


def _flushed(module: str, part: Part, nprocs: Ints) -> Known:
    """Return the end of writes or, where they took longer, of flushes; the last close ends both."""
    begin, end = span({module: part}, "write")
    spent = part.merged(f"{module}_F_WRITE_TIME", "sum")
    close = part.merged(f"{module}_F_CLOSE_END_TIMESTAMP", "max")
    counts = np.ones(part.size)
    counts[part.present] = part.counts
    everybody = np.zeros(part.size, bool)
    everybody[part.row[part.words("rank") < 0]] = True
    counts = np.where(everybody, nprocs, counts)
    until = begin.values + spent.values / counts
    until = np.where(close.known, np.minimum(until, close.values), end.values)
    return Known(np.maximum(until, end.values), end.known)


def _what(batch: Batch, run: Ints, ids: Ints) -> Columns:
    names = names_of(batch.runs, run, ids)
    mount, fs_type = mounts_of(batch.runs, run, names)
    return {
        "file_id": pa.array(ids),
        "name": names,
        "kind": kinds(names),
        "mount": mount,
        "fs_type": fs_type,
    }


def _modules(batch: Batch, parts: dict[str, Part], run: Ints, begin: int) -> Columns:
    """Return which modules have a record of each file, and whether one of them is not whole."""
    bits = np.zeros(len(run), np.int64)
    for module, part in parts.items():
        bits[part.present] |= 1 << _ALL.index(module)
    bits[batch.stripes.rows(begin, begin + len(run))] |= 1 << _ALL.index("LUSTRE")
    whole = np.array(
        [sum(1 << _ALL.index(m) for m in r.partial if m in _ALL) for r in batch.runs], np.int64
    )
    combinations, which = np.unique(bits, return_inverse=True)
    texts = [",".join(m for i, m in enumerate(_ALL) if c >> i & 1) for c in combinations.tolist()]
    return {
        "modules": pa.array(texts, pa.string()).take(pa.array(which)),
        "partial": pa.array((bits & whole[run]) != 0),
    }


def _ranks(batch: Batch, begin: int, end: int) -> Columns:
    several, only = (values[begin:end] for values in batch.ranks)
    some: Flags = several > 0
    return {
        "ranks": pa.array(several, mask=~some),
        "shared": pa.array(several > 1, mask=~some),
        "rank": pa.array(only, mask=only < 0),
    }
