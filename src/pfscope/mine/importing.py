"""Imports of many files: found, told apart by content, read in parallel, committed batch by batch.

What was committed stays, whatever happens then: an import that was killed goes on where it was.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from typing import Final, NamedTuple, Protocol

from pfscope.mine.inputs import Candidate, Found, Period, digest, find
from pfscope.mine.lake import Lake
from pfscope.mine.parts import Parts
from pfscope.mine.records import Imports, Record, as_rows
from pfscope.mine.workers import Task, Write, cores, run_tasks

_MOST_FILES: Final = 512
_MOST_BYTES: Final = 64 << 20
"""A task has no more files, nor bytes of them, unless one file alone is larger."""
_READERS: Final = 4
"""Threads that read files for their digests."""


class Watch(Protocol):
    """Whoever shows how far an import is."""

    def total(self, files: int) -> None:
        """So many files were found."""

    def done(self, files: int) -> None:
        """So many more of them are done."""


class Summary(NamedTuple):
    """What an import did."""

    found: int
    records: tuple[Record, ...]
    """What became of the files that were not known."""

    @property
    def known(self) -> int:
        """Files that were there already, or twice in what was named."""
        return self.found - len(self.records)


class Source(NamedTuple):
    """What is imported."""

    kind: str
    paths: tuple[str, ...]
    endings: tuple[str, ...]
    """Of files in directories that are named."""
    period: Period = Period()
    again: bool = False
    """What is in quarantine is tried again."""


def import_files(
    lake: Lake, source: Source, write: Write, watch: Watch, processes: int | None = None
) -> Summary:
    """Import all files that are not known yet; each batch is committed when it is done."""
    candidates = list(find(source.paths, source.endings))
    watch.total(len(candidates))
    processes = processes or cores()
    fresh = Fresh(Imports(lake), source, watch)
    size = min(_MOST_FILES, max(1, len(candidates) // (4 * processes)))
    tasks = _tasks(fresh.of(candidates), size)
    records: list[Record] = []
    for batch, found in run_tasks(lake, tasks, write, source, processes):
        commit(lake, batch, found)
        records += found
        watch.done(len(found))
    if fresh.unreadable:
        batch = batch_name(record.log for record in fresh.unreadable)
        lake.staging(batch)
        commit(lake, batch, fresh.unreadable)
    return Summary(len(candidates), (*records, *fresh.unreadable))


def commit(lake: Lake, batch: str, records: list[Record]) -> None:
    """Make a batch that is written part of the lake, with the records of its files."""
    parts = Parts(lake.staged(batch), batch)
    parts.write("imports", None, as_rows(records))
    parts.close()
    lake.commit(batch)


def batch_name(logs: Iterable[str]) -> str:
    """Return the name of a batch: it follows from what is in it."""
    return blake2b("".join(sorted(logs)).encode(), digest_size=8).hexdigest()


class Fresh:
    """The files among some that are to be imported, each content once."""

    def __init__(self, imports: Imports, source: Source, watch: Watch) -> None:
        self._imports = imports
        self._source = source
        self._watch = watch
        self._taken: set[str] = set()
        self.unreadable: list[Record] = []

    def of(self, candidates: Iterable[Candidate]) -> Iterator[Found]:
        """Yield them with their digests; files that have not changed are not read again."""
        with ThreadPoolExecutor(_READERS) as readers:
            # A bounded number at a time, so that no more is read ahead than is asked for.
            for some in _lots(candidates, _MOST_FILES):
                for file, log in zip(some, readers.map(self._digest, some), strict=True):
                    found = Found(*file, log)
                    if log.startswith("!"):
                        self._refuse(found)
                    elif log in self._taken or self._known(log):
                        self._watch.done(1)
                    else:
                        self._taken.add(log)
                        yield found

    def _known(self, log: str) -> bool:
        return self._imports.has(log, self._source.period, again=self._source.again)

    def _digest(self, file: Candidate) -> str:
        seen = self._imports.seen(file)
        if seen is not None:
            return seen
        try:
            return digest(file.path)
        except OSError as error:
            return f"!{error.strerror or error}"

    def _refuse(self, found: Found) -> None:
        """Record a file that nobody can read, under a digest of its name."""
        reason = f"the file cannot be read: {found.digest[1:]}"
        named = found._replace(digest=batch_name([found.shown]) * 2)
        if not self._imports.has(named.digest, Period()):
            self.unreadable.append(Record.quarantined(named, reason, self._source.kind))
        self._watch.done(1)


def _lots(candidates: Iterable[Candidate], size: int) -> Iterator[list[Candidate]]:
    lot: list[Candidate] = []
    for candidate in candidates:
        lot.append(candidate)
        if len(lot) == size:
            yield lot
            lot = []
    if lot:
        yield lot


def _tasks(fresh: Iterable[Found], size: int) -> Iterator[Task]:
    """Cut files into tasks."""
    task: list[Found] = []
    volume = 0
    for found in fresh:
        if task and (len(task) == size or volume + found.size > _MOST_BYTES):
            yield Task(batch_name(f.digest for f in task), task)
            task, volume = [], 0
        task.append(found)
        volume += found.size
    if task:
        yield Task(batch_name(f.digest for f in task), task)
