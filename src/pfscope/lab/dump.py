"""A simulated run as a tree of files: what servers printed, what really happened, what Slurm knew.

    OUT/<server>/<YYYYmmddTHHMMSSZ>.txt       raw `lctl get_param` output; .txt.gz when compressed
    OUT/<server>/*.pfl                        or one frame log for each server
    OUT/truth/…                               see `truth`
    OUT/slurm/sacct.txt

Dumps are named by the laboratory's clock; frames carry the server's own. Text may be made by other
processes: the bytes do not depend on it.
"""

import gzip
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Literal, Protocol

from pfscope.errors import InputError, UsageError
from pfscope.frames import FrameBuilder, FrameLog, Origin, Section
from pfscope.lab.cluster import Cluster, Observation
from pfscope.lab.machines import NS
from pfscope.lab.slurm import sacct_text
from pfscope.lab.tables import ServerSnapshot
from pfscope.lab.text import server_sections, server_text
from pfscope.lab.truth import Truth

Form = Literal["text", "gzip", "frames"]
_GZIP_LEVEL = 1
_WAITING = 24
"""So many snapshots may wait for their text; more would only fill the memory."""


@dataclass(frozen=True, slots=True)
class Run:
    """What is dumped."""

    start: datetime
    hours: float
    interval_s: float = 120.0
    form: Form = "text"
    workers: int = 0
    """Processes that make text beside this one; with none, this one does."""

    @property
    def observations(self) -> int:
        """How many observation times a run has, its beginning included."""
        return 1 + int(self.hours * 3600 / self.interval_s + 1e-9)


def dump(
    out: Path, cluster: Cluster, run: Run, told: Callable[[Observation], None] = lambda _: None
) -> None:
    """Write a run into an empty directory; `told` learns of each observation."""
    check(out, run)
    out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        writer = stack.enter_context(_writer(out, cluster, run))
        truth = stack.enter_context(Truth(out / "truth", cluster))
        for observation in cluster.observe(run.start, run.hours, run.interval_s):
            for snapshot in observation.snapshots:
                writer.write(snapshot)
            truth.add(observation)
            told(observation)
        begin_s = run.start.timestamp()
        end_s = begin_s + run.hours * 3600
        truth.finish(begin_s, end_s)
    (out / "slurm").mkdir()
    jobs = [job for job in cluster.world.staging.jobs if job.end_s > begin_s]
    text = sacct_text(cluster.site, jobs, end_s)
    (out / "slurm" / "sacct.txt").write_text(text, encoding="ascii")


def check(out: Path, run: Run) -> None:
    """Refuse what cannot be done before anything is."""
    if not run.hours > 0:
        raise UsageError("--hours must be above zero")
    if run.interval_s < 1 or run.interval_s != int(run.interval_s):
        raise UsageError("--interval must be whole seconds: files are named by them")
    try:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise UsageError(f"{out} is not empty: name a directory that is new or holds nothing")
    except OSError as error:
        raise InputError(f"cannot write into {out}: {error.strerror}") from error


def _writer(out: Path, cluster: Cluster, run: Run) -> "_Writer":
    for server in cluster.site.servers:
        (out / server.name).mkdir()
    if run.form == "frames":
        return FrameLogs(out, run)
    return _Texts(out, run)


class _Writer(Protocol):
    """Writes snapshots; leaving it waits for all of them."""

    def __enter__(self) -> "_Writer": ...

    def __exit__(self, *exception: object) -> None: ...

    def write(self, snapshot: ServerSnapshot) -> None:
        """Write one snapshot of a server."""


class _Pool:
    """Calls a function in other processes, or here when there are none; results in order."""

    def __init__(self, workers: int) -> None:
        self._executor = (
            ProcessPoolExecutor(workers, mp_context=get_context("spawn")) if workers else None
        )
        self._waiting: deque[tuple[ServerSnapshot, Future[bytes]]] = deque()

    def call(
        self, function: Callable[..., bytes], snapshot: ServerSnapshot, *rest: object
    ) -> Iterator[tuple[ServerSnapshot, bytes]]:
        """Start a call and yield the results that must not wait any longer."""
        if self._executor is None:
            yield snapshot, function(snapshot, *rest)
            return
        future = self._executor.submit(function, snapshot, *rest)
        self._waiting.append((snapshot, future))
        while len(self._waiting) > _WAITING:
            first, result = self._waiting.popleft()
            yield first, result.result()

    def rest(self) -> Iterator[tuple[ServerSnapshot, bytes]]:
        """Yield all results that are left."""
        while self._waiting:
            snapshot, future = self._waiting.popleft()
            yield snapshot, future.result()

    def close(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)


class _Texts:
    """One file for each snapshot."""

    def __init__(self, out: Path, run: Run) -> None:
        self._out, self._compress = out, run.form == "gzip"
        self._pool = _Pool(run.workers)

    def __enter__(self) -> "_Texts":
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            if exception[0] is None:
                for _done in self._pool.rest():
                    pass
        finally:
            self._pool.close()

    def write(self, snapshot: ServerSnapshot) -> None:
        moment = datetime.fromtimestamp(snapshot.true_time_ns // NS, UTC)
        suffix = ".txt.gz" if self._compress else ".txt"
        path = self._out / snapshot.server / f"{moment:%Y%m%dT%H%M%SZ}{suffix}"
        for _done in self._pool.call(_write_text, snapshot, path, self._compress):
            pass


class FrameLogs:
    """One frame log for each server, in directories that are there."""

    def __init__(self, out: Path, run: Run) -> None:
        self._pool, self._interval_s = _Pool(run.workers), run.interval_s
        self._out = out
        self._logs: dict[str, FrameLog] = {}
        self._sequence: dict[tuple[str, str], int] = {}

    def __enter__(self) -> "FrameLogs":
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            if exception[0] is None:
                for snapshot, encoded in self._pool.rest():
                    self._append(snapshot, encoded)
        finally:
            self._pool.close()
            for log in self._logs.values():
                log.sync()
                log.close()

    def write(self, snapshot: ServerSnapshot) -> None:
        """Append the frame of one server at one time."""
        key = (snapshot.server, snapshot.boot_id)
        sequence = self._sequence[key] = self._sequence.get(key, -1) + 1
        for first, encoded in self._pool.call(_frame, snapshot, sequence, self._interval_s):
            self._append(first, encoded)

    def _append(self, snapshot: ServerSnapshot, encoded: bytes) -> None:
        log = self._logs.get(snapshot.server)
        if log is None:
            log = self._logs[snapshot.server] = FrameLog(str(self._out / snapshot.server))
        log.append(encoded)


def _write_text(snapshot: ServerSnapshot, path: Path, compress: bool) -> bytes:
    text = server_text(snapshot.dialect, snapshot)
    path.write_bytes(gzip.compress(text, _GZIP_LEVEL, mtime=0) if compress else text)
    return b""


def _frame(snapshot: ServerSnapshot, sequence: int, interval_s: float) -> bytes:
    builder = FrameBuilder()
    for name, value in server_sections(snapshot.dialect, snapshot):
        builder.section(Section(name, value))
    origin = Origin(
        server=snapshot.server,
        epoch=snapshot.boot_id,
        sequence=sequence,
        wall_ns=snapshot.time_ns,
        monotonic_ns=snapshot.time_ns - snapshot.boot_ns,
        interval_s=interval_s,
        effective_interval_s=interval_s,
        filesystems=(snapshot.file_system,),
    )
    return builder.finish(origin)
