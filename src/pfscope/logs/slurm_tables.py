"""The two tables of Slurm's accounting, jobs and steps, and how cells become their rows.

Schemas are fixed: a column that the text does not have is null. A record whose id is none is left
out and counted; a cell that makes no sense is null and counted.
"""

from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pfscope.logs import slurm_values as values
from pfscope.logs.slurm_defects import Defects
from pfscope.logs.slurm_lines import Cells

ALLOCATIONS: Final = pa.schema(
    [
        ("line", pa.int64()),
        ("job", pa.string()),
        ("array_job", pa.string()),
        ("array_task", pa.string()),
        ("het_job", pa.string()),
        ("het_offset", pa.string()),
        ("cluster", pa.string()),
        ("user", pa.string()),
        ("user_name", pa.string()),
        ("group", pa.string()),
        ("group_name", pa.string()),
        ("project", pa.string()),
        ("partition", pa.string()),
        ("qos", pa.string()),
        ("name", pa.string()),
        ("nodes", pa.string()),
        ("node_count", pa.int64()),
        ("cpus", pa.int64()),
        ("submit", values.TIME),
        ("eligible", values.TIME),
        ("start", values.TIME),
        ("end", values.TIME),
        ("elapsed_s", pa.int64()),
        ("time_limit_s", pa.int64()),
        ("state", pa.string()),
        ("canceller", pa.string()),
        ("exit_code", pa.int32()),
        ("exit_signal", pa.int32()),
        ("memory_bytes", pa.int64()),
        ("tres", pa.string()),
    ]
)
"""One row is one record of a job: a job that was queued again has several. `job` is Slurm's raw id
where the text has it; `array_task` may be `[1-3%2]`, tasks that wait. `user` and `group` are
numbers as text. `nodes` is a list as Slurm writes it, see `node_list`. Jobs that have not ended
have no `end`, whatever sacct shows there."""

STEPS: Final = pa.schema(
    [
        ("line", pa.int64()),
        ("job", pa.string()),
        ("step", pa.string()),
        ("name", pa.string()),
        ("nodes", pa.string()),
        ("node_count", pa.int64()),
        ("tasks", pa.int64()),
        ("cpus", pa.int64()),
        ("start", values.TIME),
        ("end", values.TIME),
        ("elapsed_s", pa.int64()),
        ("cpu_s", pa.float64()),
        ("state", pa.string()),
        ("canceller", pa.string()),
        ("exit_code", pa.int32()),
        ("exit_signal", pa.int32()),
        ("max_rss_bytes", pa.int64()),
        ("mean_read_bytes", pa.int64()),
        ("mean_write_bytes", pa.int64()),
        ("tres", pa.string()),
    ]
)
"""One row is one step of a job: `batch`, `extern`, `interactive`, or the number of an srun. Bytes
read and written are the mean of its tasks, as the accounting plugin saw them."""

_SOURCES: Final[dict[str, tuple[tuple[str, values.Convert], ...]]] = {
    "cluster": (("cluster", values.text),),
    "user": (("uid", values.user_id),),
    "user_name": (("user", values.free_text),),
    "group": (("gid", values.user_id),),
    "group_name": (("group", values.free_text),),
    "project": (("account", values.free_text),),
    "partition": (("partition", values.free_text),),
    "qos": (("qos", values.free_text), ("qosraw", values.free_text)),
    "name": (("jobname", values.free_text),),
    "nodes": (("nodelist", values.text),),
    "node_count": (("nnodes", values.size), ("allocnodes", values.size)),
    "cpus": (("alloccpus", values.size), ("ncpus", values.size)),
    "elapsed_s": (("elapsedraw", values.whole_seconds), ("elapsed", values.whole_seconds)),
    "time_limit_s": (("timelimitraw", values.minutes), ("timelimit", values.whole_seconds)),
    "state": (("state", values.state),),
    "canceller": (("state", values.canceller),),
    "exit_code": (("exitcode", values.exit_code),),
    "exit_signal": (("exitcode", values.exit_signal),),
    "memory_bytes": (("reqmem", values.size),),
    "tres": (("alloctres", values.free_text), ("tres", values.free_text)),
    "tasks": (("ntasks", values.size),),
    "cpu_s": (("totalcpu", values.duration),),
    "max_rss_bytes": (("maxrss", values.size),),
    "mean_read_bytes": (("avediskread", values.size),),
    "mean_write_bytes": (("avediskwrite", values.size),),
}
"""Where a column comes from, the best first: sacct's column, and how it is read."""
NOT_STARTED: Final = frozenset(("PENDING", "CONFIGURING"))
UNFINISHED: Final = NOT_STARTED | {"COMPLETING", "RUNNING", "SIGNALING", "STAGE_OUT", "SUSPENDED"}
_TIMES: Final = ("submit", "eligible", "start", "end")
WANTED: Final = frozenset(
    ("jobid", "jobidraw", *_TIMES, *(name for best in _SOURCES.values() for name, _ in best))
)
"""The columns of sacct that are read at all."""

_ID: Final = (
    r"^(?P<base>[0-9]{1,18})(?:_(?P<task>[0-9]{1,18}|\[[^\]]*\]))?(?:\+(?P<offset>[0-9]{1,9}))?"
    r"(?:\.(?P<step>[!-~]+))?$"
)
_RAW_ID: Final = r"^(?P<job>[0-9]{1,18})(?:\.(?P<step>[!-~]+))?$"


class SacctBatch(NamedTuple):
    """Some of the records of a text, and what of it was not understood."""

    allocations: pa.RecordBatch
    steps: pa.RecordBatch
    defects: Defects


def tabulate(cells: Cells, times: values.Convert, defects: Defects) -> SacctBatch:
    """Make the rows of both tables; `defects` is added to, and goes with them."""
    ids = _ids(cells)
    known = pc.is_valid(ids["job"])
    for line in cells.line.filter(pc.invert(known)).to_pylist():
        defects.reject(line, "no job id")
    of_step = pc.and_(known, pc.is_valid(ids["step"]))
    of_job = pc.and_not(known, of_step)
    reader = _Reader(times, defects)
    return SacctBatch(
        reader.rows(ALLOCATIONS, ids, cells, of_job),
        reader.rows(STEPS, ids, cells, of_step),
        defects,
    )


class _Reader(NamedTuple):
    times: values.Convert
    defects: Defects

    def rows(
        self, schema: pa.Schema, ids: dict[str, pa.Array], cells: Cells, which: pa.Array
    ) -> pa.RecordBatch:
        raw = {name: column.filter(which) for name, column in cells.columns.items()}
        columns = {name: ids[name].filter(which) for name in ids if name in schema.names}
        columns["line"] = cells.line.filter(which)
        for field in schema:
            if field.name not in columns:
                found = self._column(field.name, raw)
                absent = pa.nulls(len(columns["line"]), field.type)
                columns[field.name] = absent if found is None else found
        columns["end"] = _unless(columns["state"], UNFINISHED, columns["end"])
        columns["start"] = _unless(columns["state"], NOT_STARTED, columns["start"])
        return pa.record_batch([columns[name] for name in schema.names], schema=schema)

    def _column(self, name: str, raw: dict[str, pa.Array]) -> pa.Array | None:
        """Return a column from the best of its sources that the text has."""
        sources = ((name, self.times),) if name in _TIMES else _SOURCES[name]
        for source, convert in sources:
            if source in raw:
                found, unread = convert(raw[source])
                if unread:
                    self.defects.unread[source] += unread
                return found
        return None


def _unless(state: pa.Array, states: frozenset[str], times: pa.Array) -> pa.Array:
    """Blank the times of those states: sacct may show a forecast, or the time at which it ran."""
    return pc.if_else(pc.is_in(state, pa.array(sorted(states))), None, times)


def _ids(cells: Cells) -> dict[str, pa.Array]:
    """Read what `4103947_[1-3]`, `123+1.batch` and the raw ids beside them say."""
    shown = _groups(cells, "jobid", _ID, ("base", "task", "offset", "step"))
    raw = _groups(cells, "jobidraw", _RAW_ID, ("job", "step"))
    base, task, offset = shown["base"], shown["task"], shown["offset"]
    is_task, is_part = pc.is_valid(task), pc.is_valid(offset)
    suffix = pc.binary_join_element_wise(
        pc.if_else(is_task, pc.binary_join_element_wise("_", task, ""), ""),
        pc.if_else(is_part, pc.binary_join_element_wise("+", offset, ""), ""),
        "",
    )
    derived = pc.binary_join_element_wise(base, suffix, "")
    return {
        "job": pc.coalesce(raw["job"], derived),
        "array_job": pc.if_else(is_task, base, None),
        "array_task": task,
        "het_job": pc.if_else(is_part, base, None),
        "het_offset": offset,
        "step": pc.coalesce(raw["step"], shown["step"]),
    }


def _groups(cells: Cells, column: str, pattern: str, names: tuple[str, ...]) -> dict[str, pa.Array]:
    """Return the named groups of a pattern as text, null where a group is not there."""
    raw = cells.columns.get(column)
    if raw is None:
        return {name: pa.nulls(len(cells.line), pa.string()) for name in names}
    found = pc.extract_regex(raw, pattern)
    whole = {name: pc.struct_field(found, name).cast(pa.string()) for name in names}
    return {
        name: pc.if_else(pc.and_(pc.is_valid(found), pc.not_equal(part, "")), part, None)
        for name, part in whole.items()
    }
