"""`darshan_job`: a row for each run, added up from the rows of its files."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pfscope.mine.darshan_batch import Batch, as_table
from pfscope.mine.ost_sets import ost_count
from pfscope.mine.schema_darshan import COUNTERS

_SUMS = (
    "bytes_read", "bytes_written", "read_s", "write_s", "meta_s", "files", "files_read",
    "files_written", "files_shared",
    *(counter.column for counter in COUNTERS if counter.in_job),
)  # fmt: skip
_HOW = {
    **dict.fromkeys(_SUMS, "sum"),
    **dict.fromkeys(("read_start_s", "write_start_s"), "min"),
    **dict.fromkeys(("read_end_s", "write_end_s"), "max"),
}


def summed(files: pa.Table) -> pa.Table:
    """Add up rows of `darshan_file` by log."""
    one = pa.array(np.ones(files.num_rows, np.int64))
    counted = files.append_column("files", one)
    for name, which in (
        ("files_read", pc.greater(files["bytes_read"], 0)),
        ("files_written", pc.greater(files["bytes_written"], 0)),
        ("files_shared", files["shared"]),
    ):
        counted = counted.append_column(
            name, pc.fill_null(which, fill_value=False).cast(pa.int64())
        )
    return _by_log(counted.select(["log", *_HOW]))


def job_rows(batch: Batch, sums: list[pa.Table]) -> pa.Table:
    """Make the table: a row for each run, in their order."""
    runs = batch.runs
    added = _by_log(pa.concat_tables(sums)) if sums else None
    columns = _of_runs(batch)
    logs = pa.array([run.digest for run in runs])
    if added is not None:
        at = pc.index_in(logs, added["log"].combine_chunks())
        columns |= {name: added[name].combine_chunks().take(at) for name in _HOW}
    for name in ("files", "files_read", "files_written", "files_shared"):
        columns[name] = (
            pc.fill_null(columns[name], 0)
            if name in columns
            else pa.array(np.zeros(len(runs), int))
        )
    columns["osts"] = batch.stripes.of_runs(len(runs))
    columns["ost_count"] = ost_count(columns["osts"])
    return as_table("darshan_job", columns, len(runs))


def _of_runs(batch: Batch) -> dict[str, pa.Array]:
    runs = batch.runs
    partial = [",".join(run.partial) or None for run in runs]
    return {
        "log": pa.array([run.digest for run in runs]),
        "job_id": pa.array([str(run.job.job_id) for run in runs]),
        "start": pa.array([run.job.start_us for run in runs], pa.int64()),
        "end": pa.array([run.job.end_us for run in runs], pa.int64()),
        "run_s": pa.array([run.job.run_s for run in runs], pa.float64()),
        "uid": pa.array([run.job.uid for run in runs], pa.int64()),
        "user": pa.array([run.user for run in runs], pa.string()),
        "executable": pa.array([run.job.executable for run in runs], pa.string()),
        "command": pa.array([run.job.command for run in runs], pa.string()),
        "nprocs": pa.array(batch.nprocs),
        "log_version": pa.array([run.log_version for run in runs]),
        "modules": pa.array([",".join(run.modules) for run in runs]),
        "partial": pa.array([text is not None for text in partial]),
        "partial_modules": pa.array(partial, pa.string()),
    }


def _by_log(rows: pa.Table) -> pa.Table:
    grouped = rows.group_by("log").aggregate(list(_HOW.items()))
    return grouped.rename_columns([_plain(name) for name in grouped.column_names])


def _plain(name: str) -> str:
    stem, _, how = name.rpartition("_")
    return stem if stem in _HOW and how == _HOW[stem] else name
