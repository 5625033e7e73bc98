"""Processes that read files for an import, as many as there are cores.

A file that takes its process down, whatever it did, is found and set aside; the others are read.
"""

import ctypes
import multiprocessing
import os
import resource
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from pfscope.errors import InputError
from pfscope.mine.inputs import Found, Period
from pfscope.mine.lake import Lake
from pfscope.mine.records import Record

if TYPE_CHECKING:
    from pfscope.mine.importing import Source

Write = Callable[[Path, str, list[Found], Period], list[Record]]
"""Writes the rows of some files below a directory, and says what became of each."""
Result = TypeVar("Result")
Done = tuple[str, list[Record]]
_AHEAD: Final = 2
"""Tasks for each process that are known before it asks for them."""
_MEMORY: Final = 8 << 30
"""Bytes that a process may have; a file that asks for more is set aside."""
_PR_SET_PDEATHSIG: Final = 1
TAKEN_DOWN: Final = "it takes down the process that reads it"


class Task(NamedTuple):
    """Files that are read together, and become one batch."""

    batch: str
    files: list[Found]


def cores() -> int:
    """Return how many processors there are for us."""
    return len(os.sched_getaffinity(0))


def run_tasks(
    lake: Lake, tasks: Iterable[Task], write: Write, source: "Source", processes: int
) -> Iterator[Done]:
    """Yield each task's batch when it is written, and what became of its files."""
    stream = iter(tasks)
    while True:
        broken: list[Task] = []
        yield from _in_parallel(lake, stream, write, source, processes, broken)
        if not broken:
            return
        for task in broken:
            yield from _with_care(lake, task, write, source)


def _in_parallel(
    lake: Lake, tasks: Iterator[Task], write: Write, source: "Source", processes: int,
    broken: list[Task],
) -> Iterator[Done]:  # fmt: skip
    """Run tasks until there are no more, or a process died: what was on its way is `broken`."""
    first = list(islice(tasks, _AHEAD * processes))
    if not first:
        return
    waiting: dict[Future[list[Record]], Task] = {}
    with _pool(min(processes, len(first))) as pool:

        def start(task: Task) -> None:
            try:
                waiting[_submit(pool, lake, task, write, source)] = task
            except BrokenProcessPool:
                broken.append(task)

        for task in first:
            start(task)
        while waiting:
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                task = waiting.pop(future)
                if isinstance(future.exception(), BrokenProcessPool):
                    broken.append(task)
                    continue
                yield task.batch, future.result()
                if not broken:
                    for more in islice(tasks, 1):
                        start(more)


def _with_care(lake: Lake, task: Task, write: Write, source: "Source") -> Iterator[Done]:
    """Run a task in a process of its own; halve it until the file is found that ends it."""
    from pfscope.mine.importing import batch_name

    with _pool(1) as pool:
        future = _submit(pool, lake, task, write, source)
        if not isinstance(future.exception(), BrokenProcessPool):
            yield task.batch, future.result()
            return
    if len(task.files) == 1:
        lake.staging(task.batch)
        yield task.batch, [Record.quarantined(task.files[0], TAKEN_DOWN, source.kind)]
        return
    middle = len(task.files) // 2
    lake.abandon(task.batch)
    for files in (task.files[:middle], task.files[middle:]):
        half = Task(batch_name(found.digest for found in files), files)
        yield from _with_care(lake, half, write, source)


class Isolated:
    """A process that reads files one by one; a new one takes its place when it dies."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> "Isolated":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __call__(self, function: Callable[[str], Result], path: str) -> Result:
        """Return what a function makes of a file; InputError: the process did not live."""
        self._pool = self._pool or _pool(1)
        try:
            return self._pool.submit(function, path).result()
        except BrokenProcessPool as error:
            self.__exit__()
            raise InputError(TAKEN_DOWN) from error


def _submit(
    pool: ProcessPoolExecutor, lake: Lake, task: Task, write: Write, source: "Source"
) -> Future[list[Record]]:
    return pool.submit(write, lake.staging(task.batch), task.batch, task.files, source.period)


def _pool(processes: int) -> ProcessPoolExecutor:
    # Not forked: threads of Arrow would be there without running.
    fresh = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(processes, fresh, initializer=_bound, initargs=(os.getpid(),))


def _bound(parent: int) -> None:
    """End with the parent, leave the keyboard to it, and take no memory without bound."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it went before we asked
        os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = _MEMORY if hard == resource.RLIM_INFINITY else min(_MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
