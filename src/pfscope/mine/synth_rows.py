"""The synthetic month as rows of the lake's tables: runs and files, with their counters."""

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pfscope.mine.ost_sets import ost_count
from pfscope.mine.schema import table_schema
from pfscope.mine.schema_darshan import COUNTERS
from pfscope.mine.synth_files import LARGE_BIN, SMALL_BIN, Files
from pfscope.mine.synth_world import (
    APPLICATIONS,
    FIRST_JOB,
    OSTS,
    START,
    WIDTHS,
    Flags,
    Ints,
    Runs,
    bitmaps,
)

START_US: Final = int(START.timestamp()) * 10**6
_MIB: Final = 2**20
_SETS: Final = pa.array(bitmaps(), pa.binary())
_BYTES: Final = -(-OSTS // 8)
_WIDE: Final = np.stack([
    np.frombuffer(bits.ljust(_BYTES, b"\0"), np.uint8) for bits in bitmaps()
])  # fmt: skip
_TIMES: Final = ("read_start", "read_end", "write_start", "write_end")


class Names:
    """Who the runs are: the texts of their jobs, logs and programs."""

    def __init__(self, runs: Runs, rng: np.random.Generator) -> None:
        ids = FIRST_JOB + np.arange(len(runs))
        self.job = pa.array(ids).cast(pa.string())
        digits = np.frombuffer(rng.bytes(16 * len(runs)).hex().encode(), "S32")
        self.log = pa.array(digits.astype("U32"))
        self.application = pa.array(APPLICATIONS).take(pa.array(runs.application))


def table(name: str, columns: dict[str, Any]) -> pa.Table:
    """Return rows of a table of the lake; columns that are not given are null."""
    schema = table_schema(name)
    rows = len(next(iter(columns.values())))
    unknown = set(columns) - set(schema.names)
    assert not unknown, unknown
    return pa.table(
        [
            _cast(columns[field.name], field.type)
            if field.name in columns
            else pa.nulls(rows, field.type)
            for field in schema
        ],
        schema=schema,
    )


def _cast(values: Any, kind: pa.DataType) -> pa.Array:
    array = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)
    if pa.types.is_timestamp(kind):
        return array.cast(pa.int64()).cast(kind)
    return array.cast(kind)


def masked(values: Any, known: Flags) -> pa.Array:
    """Return values that are null where they are not known."""
    return pa.array(values, mask=~known)


def file_rows(runs: Runs, chosen: slice, files: Files, names: Names) -> pa.Table:
    """Return rows of `darshan_file`."""
    where = pa.array(files.run + chosen.start)
    stripe, first = runs.stripe[chosen][files.run], files.number == 0
    told = files.lustre & runs.offset_told[chosen][files.run]
    on_lustre = masked(np.zeros(len(files.run), np.int64), files.lustre).is_valid()
    sets = _SETS.take(masked(files.width * OSTS + files.ost, files.lustre))
    prefix = pc.binary_join_element_wise(
        "/scratch/", names.application, "/", names.job, "/out.", ""
    )
    start_us = START_US + runs.start_us[chosen][files.run]
    numbers = pa.array(files.number).cast(pa.string())
    used = runs.layer[chosen][files.run] > 0
    return table("darshan_file", {
        "log": names.log.take(where), "job_id": names.job.take(where), "start": start_us,
        "file_id": (where.to_numpy() << 24) + files.number + 1,
        "name": pc.binary_join_element_wise(prefix.take(where), numbers, ""),
        "kind": pa.repeat("file", len(files.run)),
        "mount": pc.if_else(on_lustre, "/scratch", "/home"),
        "fs_type": pc.if_else(on_lustre, "lustre", "nfs"),
        "modules": pa.array(_MODULES).take(pa.array(used).cast(pa.int8())),
        "partial": np.zeros(len(files.run), bool), "nprocs": runs.processes[chosen][files.run],
        "ranks": files.ranks, "shared": files.ranks > 1,
        "rank": masked(files.rank, files.rank >= 0),
        "stripe_size": masked(np.where((stripe == 1) & first, 4 * _MIB, _MIB), files.lustre),
        "stripe_count": masked(np.array(WIDTHS)[files.width], files.lustre),
        "stripe_offset": masked(np.where((stripe == 3) & first, 7, -1), told),
        "osts": sets, "ost_count": ost_count(sets),
        "components": masked(np.ones(len(files.run), np.int32), files.lustre),
        "mirrors": masked(np.ones(len(files.run), np.int32), files.lustre),
        "meta_start_s": files.read_start, "meta_end_s": files.write_end,
        "write_flush_end_s": masked(files.write_end, files.written > 0),
        **_volumes(files), **_counters(runs, chosen, files),
    })  # fmt: skip


_MODULES: Final = ("POSIX,LUSTRE", "POSIX,MPI-IO,LUSTRE")


def _volumes(files: Files) -> dict[str, Any]:
    spent = {
        "read": files.read_end - files.read_start,
        "write": files.write_end - files.write_start,
    }
    moved = {"read": files.read > 0, "write": files.written > 0}
    spans = {f"{t}_s": masked(getattr(files, t), moved[t.partition("_")[0]]) for t in _TIMES}
    return {
        "bytes_read": files.read, "bytes_written": files.written, **spans,
        **{f"{name}_s": seconds * files.ranks for name, seconds in spent.items()},
        "meta_s": np.full(len(files.run), 0.001),
        "posix_f_read_time": spent["read"] * files.ranks,
        "posix_f_write_time": spent["write"] * files.ranks,
        "posix_f_meta_time": np.full(len(files.run), 0.001),
    }  # fmt: skip


def _counters(runs: Runs, chosen: slice, files: Files) -> dict[str, Any]:
    """Return Darshan's counters; of a hundred operations so many are small, or consecutive."""
    layer = runs.layer[chosen][files.run]
    small, consecutive = (
        values[chosen][files.run] for values in (runs.small_percent, runs.consecutive_percent)
    )
    zeros = np.zeros(len(files.run), np.int64)
    made: dict[str, Any] = {
        **dict.fromkeys(_ZERO, zeros), "posix_opens": files.ranks, "posix_bytes_read": files.read,
        "posix_bytes_written": files.written,
    }  # fmt: skip
    for word, name, count in (("read", "reads", files.reads), ("write", "writes", files.writes)):
        each = count // 100
        made[f"posix_{name}"] = count
        made[f"posix_consec_{name}"] = each * consecutive
        made[f"posix_seq_{name}"] = each * np.maximum(consecutive, 100 - small)
        made[f"posix_size_{word}_{SMALL_BIN}"] = each * small
        made[f"posix_size_{word}_{LARGE_BIN}"] = each * (100 - small)
        made[f"mpiio_indep_{name}"] = masked(np.where(layer == 1, count, 0), layer > 0)
        made[f"mpiio_coll_{name}"] = masked(np.where(layer == 2, count, 0), layer > 0)
    return made


_ZERO: Final = tuple(
    c.column for c in COUNTERS if c.module == "POSIX" and c.merge == "sum" and not c.is_time
)
"""What POSIX counts where nothing of it happened."""
_SUMMED: Final = (
    *_ZERO, "bytes_read", "bytes_written", "read_s", "write_s", "meta_s", "posix_f_read_time",
    "posix_f_write_time", "posix_f_meta_time",
)  # fmt: skip
_MPI: Final = tuple(
    f"mpiio_{how}_{what}" for how in ("indep", "coll") for what in ("reads", "writes")
)


def job_rows(runs: Runs, chosen: slice, files: Files, rows: pa.Table, names: Names) -> pa.Table:
    """Return rows of `darshan_job`, whose sums are those of the files' rows."""
    count = chosen.stop - chosen.start
    firsts = np.searchsorted(files.run, np.arange(count))
    sums = {name: np.add.reduceat(rows[name].to_numpy(), firsts) for name in _SUMMED}
    used = runs.layer[chosen] > 0
    for name in _MPI:
        sums[name] = masked(np.add.reduceat(rows[name].fill_null(0).to_numpy(), firsts), used)
    start = START_US + runs.start_us[chosen]
    run_s = np.ceil(np.maximum.reduceat(files.write_end, firsts) + 1)
    lustre = runs.stripe[chosen] >= 0
    sets = _union(files, firsts, lustre)
    return table("darshan_job", {
        "log": names.log[chosen], "job_id": names.job[chosen], "start": start,
        "end": start + (run_s * 1e6).astype(np.int64), "run_s": run_s,
        "uid": 1000 + runs.application[chosen], "user": _users(runs.application[chosen]),
        "executable": names.application[chosen], "command": names.application[chosen],
        "nprocs": runs.processes[chosen],
        "log_version": pa.array(["3.10"]).take(pa.array(np.zeros(count, np.int8))),
        "modules": pa.array(_MODULES).take(pa.array(used).cast(pa.int8())),
        "partial": np.zeros(count, bool), "files": runs.files[chosen],
        "files_read": np.add.reduceat((files.read > 0).astype(np.int64), firsts),
        "files_written": np.add.reduceat((files.written > 0).astype(np.int64), firsts),
        "files_shared": np.add.reduceat((files.ranks > 1).astype(np.int64), firsts),
        "osts": sets, "ost_count": ost_count(sets), **sums, **_extremes(files, firsts),
    })  # fmt: skip


def _users(applications: Ints) -> pa.Array:
    return pa.array([f"user{i:02d}" for i in range(len(APPLICATIONS))]).take(pa.array(applications))


def _extremes(files: Files, firsts: Ints) -> dict[str, Any]:
    """Return when a run's reads and writes begin and end; null where it has none."""
    made = {}
    for word, moved in (("read", files.read > 0), ("write", files.written > 0)):
        start = np.where(moved, getattr(files, f"{word}_start"), np.inf)
        end = np.where(moved, getattr(files, f"{word}_end"), -np.inf)
        some = np.logical_or.reduceat(moved, firsts)
        made[f"{word}_start_s"] = masked(np.minimum.reduceat(start, firsts), some)
        made[f"{word}_end_s"] = masked(np.maximum.reduceat(end, firsts), some)
    return made


def _union(files: Files, firsts: Ints, lustre: Flags) -> pa.Array:
    """Return the union of the OSTs of each run's files."""
    wide = _WIDE[files.width * OSTS + files.ost]
    united = np.bitwise_or.reduceat(wide, firsts, axis=0)
    lengths = np.where(lustre, _BYTES - (united[:, ::-1] > 0).argmax(axis=1), 0)
    taken = np.arange(_BYTES) < lengths[:, None]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    sets = pa.Array.from_buffers(
        pa.binary(),
        len(firsts),
        [None, pa.py_buffer(offsets), pa.py_buffer(united[taken].tobytes())],
    )
    return pc.if_else(pa.array(lustre), sets, pa.scalar(None, pa.binary()))
