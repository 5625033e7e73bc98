"""A batch of Darshan logs as files of the lake: what one process does with one task.

A log that cannot be read, that takes too long or more memory than there is, is set aside with the
reason; those beside it are read all the same.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Final

import pyarrow as pa

from pfscope.errors import InputError
from pfscope.logs.darshan import DarshanLog
from pfscope.mine.darshan_batch import Batch
from pfscope.mine.darshan_files import file_rows
from pfscope.mine.darshan_jobs import job_rows, summed
from pfscope.mine.darshan_ranks import rank_rows
from pfscope.mine.darshan_runs import Run, days, run_of
from pfscope.mine.darshan_traces import heatmap_rows, object_rows, sorted_by_key, traced_rows
from pfscope.mine.inputs import Found, Period, read_found
from pfscope.mine.parts import Parts
from pfscope.mine.records import QUARANTINED, Record

_TOGETHER: Final = 200_000
"""Records of logs that are put together at once; a log may have more by itself."""
ENDINGS: Final = (".darshan", ".darshan.gz", ".darshan.bz2")
"""Of logs in directories. `.darshan_partial` is one that its run still writes."""
_TRACED: Final = 200_000
"""Traced operations of small logs that are put together at once."""
_LONGEST_S: Final = 900
"""A log that takes longer is set aside."""


class _Task:
    """What is gathered of a task's logs, until there is enough to be written."""

    def __init__(self, parts: Parts, period: Period) -> None:
        self._parts = parts
        self._period = period
        self._runs: list[Run] = []
        self._traces: dict[str, list[pa.Table]] = {}
        self._written: dict[str, list[Path]] = {}
        self._traced = 0
        self._gathered = 0
        self.records: list[Record] = []

    def take(self, found: Found) -> None:
        """Read one log, and write what is gathered where it is enough."""
        reason = _attempt(lambda: self._read(found))
        if reason is not None:
            self.records.append(Record.quarantined(found, reason))
        if self._gathered >= _TOGETHER or self._traced >= _TRACED:
            self.flush()

    def _read(self, found: Found) -> None:
        log = DarshanLog(read_found(found))
        job = log.job
        if not self._period.has(job.start_us):
            self.records.append(Record.outside(found, str(job.job_id), job.start_us, job.end_us))
            return
        run = run_of(log, found.digest, found.path)
        self._trace(log, run)
        self._runs.append(run)
        self._gathered += run.records
        missing = f"{', '.join(run.partial)} without all records" if run.partial else None
        self.records.append(Record.read(found, missing, str(job.job_id), job.start_us, job.end_us))

    def _trace(self, log: DarshanLog, run: Run) -> None:
        """Keep a few traced operations; write many at once, so that they are never all there."""
        tables: list[pa.Table] = []
        written: list[Path] = []
        try:
            for table in traced_rows(log, run):
                if tables or written or table.num_rows >= _TRACED:
                    written += [self._alone(run, rows) for rows in (*tables, table)]
                    tables = []
                else:
                    tables.append(table)
        except BaseException:
            for path in written:
                path.unlink()
            self._parts.rows.pop(run.digest, None)
            raise
        self._traces[run.digest] = tables
        self._written[run.digest] = written
        self._traced += sum(table.num_rows for table in tables)

    def _alone(self, run: Run, rows: pa.Table) -> Path:
        return self._parts.write_alone("darshan_dxt", run.date, rows)

    def flush(self) -> None:
        """Write what is gathered; where that fails, log by log, to find whose fault it is."""
        runs, self._runs = self._runs, []
        self._traced = self._gathered = 0
        if runs and _attempt(lambda: self._write(runs)) is not None:
            self._parts.abandon()
            for run in runs:
                reason = _attempt(partial(self._write, [run]))
                if reason is not None:
                    self._parts.abandon()
                    self._set_aside(run, reason)
        self._traces = {}

    def _set_aside(self, run: Run, reason: str) -> None:
        for path in self._written.pop(run.digest, ()):
            path.unlink()
        self._parts.rows.pop(run.digest, None)
        self.records = [
            record._replace(state=QUARANTINED, reason=reason)
            if record.log == run.digest
            else record
            for record in self.records
        ]

    def _write(self, runs: list[Run]) -> None:
        parts = self._parts
        batch = Batch(runs)
        sums = []
        for date, begin, end in batch.slices():
            rows = file_rows(batch, begin, end)
            parts.write("darshan_file", date, rows)
            sums.append(summed(rows))
        jobs = job_rows(batch, sums)
        for date, begin, end in days(batch.runs):
            parts.write("darshan_job", date, jobs.slice(begin, end - begin))
        for date, rows in rank_rows(batch):
            parts.write("darshan_rank", date, rows)
        for date, rows in object_rows(batch):
            parts.write("darshan_object", date, rows)
        for run in batch.runs:
            if (rows := heatmap_rows(run)) is not None:
                parts.write("darshan_heatmap", run.date, rows)
        for date, first, behind in days(batch.runs):
            traced = [
                t for run in batch.runs[first:behind] for t in self._traces.get(run.digest, ())
            ]
            if traced:
                rows = sorted_by_key("darshan_dxt", pa.concat_tables(traced))
                parts.write("darshan_dxt", date, rows)
        parts.close()


def _attempt(work: Callable[[], None]) -> str | None:
    """Do some work; return why it could not be done."""
    try:
        with _in_time(_LONGEST_S):
            work()
    except (InputError, TimeoutError) as error:
        return str(error)
    except MemoryError:
        return "it takes more memory than there is"
    except OSError:
        raise  # the lake cannot be written: no log's fault
    except Exception as error:  # noqa: BLE001 - one log, whatever is in it, stops no other
        return f"it cannot be read: {type(error).__name__}: {error}"
    return None


def write_logs(root: Path, batch: str, found: list[Found], period: Period) -> list[Record]:
    """Read logs and write their rows below `root`; return what became of each of them."""
    parts = Parts(root, batch)
    task = _Task(parts, period)
    for one in found:
        task.take(one)
    task.flush()
    return [record.with_rows(parts.rows[record.log]) for record in task.records]


@contextmanager
def _in_time(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in what takes longer. The main thread of a process only."""

    def late(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"it takes longer than {seconds} s to read")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
