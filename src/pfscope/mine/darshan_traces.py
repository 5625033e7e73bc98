"""Tables of parts of files and of moments: objects in files, heat maps, and traced operations."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pfscope.logs.darshan import DarshanLog, Segments, as_text
from pfscope.mine.darshan_batch import Batch, as_table, run_columns, span
from pfscope.mine.darshan_named import names_of
from pfscope.mine.darshan_runs import OBJECT_MODULES, Run, days, gather
from pfscope.mine.merging import Ints, Part, Placed, distinct, total
from pfscope.mine.parts import ROWS
from pfscope.mine.schema import TABLES

_AT_ONCE = 1 << 20
"""Traced operations that are put in order together."""
_KINDS = {
    "H5D": {"opens": ["OPENS"], "reads": ["READS"], "writes": ["WRITES"]},
    "PNETCDF_VAR": {
        "opens": ["OPENS"],
        "reads": ["INDEP_READS", "COLL_READS", "NB_READS"],
        "writes": ["INDEP_WRITES", "COLL_WRITES", "NB_WRITES"],
        "coll_reads": ["COLL_READS"],
        "coll_writes": ["COLL_WRITES"],
    },
    "DAOS": {
        "opens": ["OBJ_OPENS", "ARRAY_OPENS", "KV_OPENS"],
        "reads": ["OBJ_FETCHES", "ARRAY_READS", "KV_GETS"],
        "writes": ["OBJ_UPDATES", "ARRAY_WRITES", "KV_PUTS"],
    },
}


def object_rows(batch: Batch) -> Iterator[tuple[str, pa.Table]]:
    """Yield the rows of `darshan_object`, by day."""
    gathered = {module: gather(batch.runs, module) for module in OBJECT_MODULES}
    tables: dict[str, list[pa.Table]] = {}
    for module, records in gathered.items():
        if records is None:
            continue
        (run, ids), (place,) = distinct([(records.run, records.ids)])
        placed = Placed(records, place)
        for date, first, behind in days(batch.runs):
            low, high = np.searchsorted(run, [first, behind]).tolist()
            for begin in range(low, high, ROWS):
                end = min(begin + ROWS, high)
                part = placed.between(begin, end)
                rows = _objects(batch, module, part, run[begin:end], ids[begin:end])
                tables.setdefault(date, []).append(rows)
    for date, found in tables.items():
        yield date, sorted_by_key("darshan_object", pa.concat_tables(found))


def _objects(batch: Batch, module: str, part: Part, run: Ints, ids: Ints) -> pa.Table:
    columns = run_columns(batch, run)
    named = {
        f"bytes_{done}": [f"BYTES_{done.upper()}"] for done in ("read", "written")
    } | {f"{way}_s": [f"F_{way.upper()}_TIME"] for way in ("read", "write", "meta")}  # fmt: skip
    for column, words in (_KINDS[module] | named).items():
        columns[column] = total([part.merged(f"{module}_{word}", "sum") for word in words]).arrow()
    for way in ("read", "write"):
        begin, end = span({module: part}, way)
        columns[f"{way}_start_s"], columns[f"{way}_end_s"] = begin.arrow(), end.arrow()
    if module != "DAOS":
        files = np.zeros(part.size, np.int64)
        files[part.row] = part.words("file_id")
        # Versions that do not say it are given -1, which is no hash that anybody has seen.
        columns["file_id"] = pa.array(files, mask=files == -1)
    ranks = np.zeros(part.size, np.int64)
    ranks[part.present] = part.counts
    everybody = part.row[part.words("rank") < 0]
    ranks[everybody] = batch.nprocs[run[everybody]]
    partial = np.array([module in one.partial for one in batch.runs])
    columns |= {
        "module": pa.array([module] * part.size, pa.string()),
        "object_id": pa.array(ids),
        "name": names_of(batch.runs, run, ids),
        "ranks": pa.array(ranks),
        "partial": pa.array(partial[run]),
    }
    return as_table("darshan_object", columns, part.size)


def heatmap_rows(run: Run) -> pa.Table | None:
    """Return the rows of `darshan_heatmap` of a run."""
    found = run.heatmap
    if found is None or not found.rows:
        return None
    names = pc.replace_substring_regex(run.names.find(found.ids), "^heatmap:", "")
    begin = found.bins * found.width_s
    columns = _run_alone(run, found.rows) | {
        "module": pc.replace_substring_regex(names, "^MPIIO$", "MPI-IO"),
        "rank": pa.array(found.ranks),
        "start_s": pa.array(begin),
        "end_s": pa.array(begin + found.width_s),
        "bytes_read": pa.array(found.bytes_read),
        "bytes_written": pa.array(found.bytes_written),
    }
    return sorted_by_key("darshan_heatmap", as_table("darshan_heatmap", columns, found.rows))


def traced_rows(log: DarshanLog, run: Run) -> Iterator[pa.Table]:
    """Yield the rows of `darshan_dxt`, each table in order by itself."""
    waiting: list[pa.Table] = []
    count = 0
    for dxt, module in (("DXT_POSIX", "POSIX"), ("DXT_MPIIO", "MPI-IO")):
        if dxt not in log.modules:
            continue
        for segments in log.dxt(dxt):
            waiting.append(_segments(segments, module, run))
            count += segments.rows
            if count >= _AT_ONCE:
                yield sorted_by_key("darshan_dxt", pa.concat_tables(waiting))
                waiting, count = [], 0
    if count:
        yield sorted_by_key("darshan_dxt", pa.concat_tables(waiting))


def _segments(found: Segments, module: str, run: Run) -> pa.Table:
    words = found.words
    times = np.ascontiguousarray(words[:, 2:4]).view(np.float64)
    hosts = as_text(list(found.host_names))
    columns = _run_alone(run, found.rows) | {
        "file_id": pa.array(found.ids),
        "module": pa.array([module]).take(pa.array(np.zeros(found.rows, np.int64))),
        "rank": pa.array(found.ranks),
        "host": hosts.take(pa.array(found.hosts)),
        "operation": pa.array(["read", "write"]).take(pa.array(found.is_write.astype(np.int64))),
        "length": pa.array(words[:, 1]),
        "start_s": pa.array(times[:, 0]),
        "end_s": pa.array(times[:, 1]),
    }
    if found.has_offset:
        columns["offset"] = pa.array(words[:, 0])
    if words.shape[1] > 4:
        columns["thread"] = pa.array(words[:, 4])
    return as_table("darshan_dxt", columns, found.rows)


def _run_alone(run: Run, rows: int) -> dict[str, pa.Array]:
    at = pa.array(np.zeros(rows, np.int64))
    return {
        "log": pa.array([run.digest]).take(at),
        "job_id": pa.array([str(run.job.job_id)]).take(at),
        "start": pa.array([run.job.start_us]).take(at),
    }


def sorted_by_key(table: str, rows: pa.Table) -> pa.Table:
    """Put rows in order of the table's key."""
    return rows.sort_by([(name, "ascending") for name in TABLES[table].key])
