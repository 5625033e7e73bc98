"""`sacct --json` cut into the cells that `sacct --parsable2` would have had, job by job.

The file may be larger than memory. Releases of Slurm differ in whether a number is plain or
`{"set": …, "infinite": …, "number": …}`, and a state a text or a list; both are read.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa

from pfscope.errors import InputError
from pfscope.logs.slurm_defects import Defects
from pfscope.logs.slurm_json_stream import BrokenJsonError, JsonStream
from pfscope.logs.slurm_lines import Cells

_ROWS: Final = 20_000
"""A batch has so many records, and the rest of the last job's steps."""
_NO_JOBS: Final = "this JSON is not what `sacct --json` prints: it has no list of jobs"

_Record = dict[str, str]
"""The texts of one record, by sacct's name of the column in lower case."""


def iter_json_cells(chunks: Iterable[bytes], defects: Defects) -> Iterator[Cells]:
    """Cut JSON into cells; where it is damaged, the jobs before are all that is read."""
    lines: list[int] = []
    records: list[_Record] = []
    for number, job in enumerate(_jobs(JsonStream(chunks), defects), 1):
        if not isinstance(job, dict):
            defects.reject(number, "no job, but another kind of JSON")
            continue
        found = [_job(job), *_steps(job)]
        records += found
        lines += [number] * len(found)
        if len(records) >= _ROWS:
            yield _cells(lines, records)
            lines, records = [], []
    if records:
        yield _cells(lines, records)


def _cells(lines: list[int], records: list[_Record]) -> Cells:
    names = dict.fromkeys(name for record in records for name in record)
    return Cells(
        pa.array(lines, pa.int64()),
        {
            name: pa.array([_bytes(record.get(name, "")) for record in records], pa.binary())
            for name in names
        },
    )


def _jobs(stream: JsonStream, defects: Defects) -> Iterator[Any]:
    """Yield the elements of the list `jobs`, or of a list that is all there is."""
    try:
        _seek_jobs(stream)
    except BrokenJsonError as error:
        raise InputError(_NO_JOBS) from error
    count = 0
    try:
        for job in stream.elements():
            count += 1
            yield job
    except BrokenJsonError:
        reason = "the JSON is damaged or cut off here, nothing behind it is read"
        defects.reject(count + 1, reason)


def _seek_jobs(stream: JsonStream) -> None:
    if stream.peek() == "[":
        return
    stream.expect("{")
    while True:
        key = stream.value()
        stream.expect(":")
        if key == "jobs" and stream.peek() == "[":
            return
        stream.value()
        stream.expect(",")


def _job(job: dict[str, Any]) -> _Record:
    at = _Path(job)
    return {
        "jobidraw": at("job_id"),
        "jobid": _shown_id(at),
        "cluster": at("cluster"),
        "user": at("user") or at("association", "user"),
        "group": at("group"),
        "account": at("account") or at("association", "account"),
        "partition": at("partition"),
        "qos": at("qos"),
        "jobname": at("name"),
        "nodelist": at("nodes"),
        "nnodes": at("allocation_nodes"),
        "alloccpus": _amount(at.there("tres", "allocated"), "cpu"),
        "alloctres": _tres(at.there("tres", "allocated")),
        "submit": at("time", "submission"),
        "timelimitraw": at("time", "limit"),
        **_ran(at),
    }


def _steps(job: dict[str, Any]) -> Iterator[_Record]:
    steps = job.get("steps")
    for step in steps if isinstance(steps, list) else ():
        at = _Path(step)
        shown = at("step", "id") or at("step", "step_id")
        name = shown.rpartition(".")[2] if "." in shown else shown
        yield {
            "jobidraw": f"{_Path(job)('job_id')}.{name}",
            "jobname": at("step", "name"),
            "nodelist": at("nodes", "range"),
            "nnodes": at("nodes", "count"),
            "ntasks": at("tasks", "count"),
            "alloccpus": _amount(at.there("tres", "allocated"), "cpu"),
            "alloctres": _tres(at.there("tres", "allocated")),
            "totalcpu": _cpu_time(at),
            "maxrss": _amount(at.there("tres", "requested", "max"), "mem"),
            "avediskread": _amount(at.there("tres", "requested", "average"), "fs/disk"),
            "avediskwrite": _amount(at.there("tres", "consumed", "average"), "fs/disk"),
            **_ran(at),
        }


def _ran(at: "_Path") -> _Record:
    """Read what jobs and steps have in common."""
    state = at("state", "current") or at("state")
    if state == "CANCELLED" and (canceller := at("kill_request_user")):
        state = f"{state} by {canceller}"
    signal = at("exit_code", "signal", "id") or at("exit_code", "signal", "signal_id")
    code = at("exit_code", "return_code")
    return {
        "eligible": at("time", "eligible"),
        "start": at("time", "start"),
        "end": at("time", "end"),
        "elapsedraw": at("time", "elapsed"),
        "state": state,
        "exitcode": f"{code}:{signal or 0}" if code else "",
    }


class _Path:
    """Values of nested JSON as texts, empty where there are none."""

    def __init__(self, root: Any) -> None:
        self._root = root

    def there(self, *keys: str) -> Any:
        value = self._root
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def __call__(self, *keys: str) -> str:
        return _text(self.there(*keys))


def _text(value: Any) -> str:
    if isinstance(value, dict):
        there = value.get("set") and not value.get("infinite")
        value = value.get("number") if there else None
    elif isinstance(value, list):
        # A state comes with its flags, and an empty list is no state.
        value = value[0] if value else None
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _shown_id(at: _Path) -> str:
    """Return the id as sacct shows it: of an array's task, or of a part of a job."""
    task = at("array", "task_id")
    tasks = at("array", "task")
    if at("array", "job_id") not in ("", "0") and (task or tasks):
        return f"{at('array', 'job_id')}_{task or f'[{tasks}]'}"
    if at("het", "job_id") not in ("", "0"):
        return f"{at('het', 'job_id')}+{at('het', 'job_offset') or 0}"
    return at("job_id")


def _resources(tres: Any) -> Iterator[tuple[str, str]]:
    for entry in tres if isinstance(tres, list) else ():
        at = _Path(entry)
        name = "/".join(part for part in (at("type"), at("name")) if part)
        count = at("count")
        if name and count.isdigit():
            yield name, count


def _amount(tres: Any, wanted: str) -> str:
    return next((count for name, count in _resources(tres) if name == wanted), "")


def _tres(tres: Any) -> str:
    return ",".join(
        f"{name}={count}{'M' if name == 'mem' else ''}" for name, count in _resources(tres)
    )


def _cpu_time(at: _Path) -> str:
    seconds, micros = at("time", "total", "seconds"), at("time", "total", "microseconds")
    if not seconds.isdigit():
        return ""
    minutes, rest = divmod(int(seconds[:18]), 60)
    return f"{minutes}:{rest:02d}.{micros.zfill(6) if micros.isdigit() else 0}"


def _bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace")
