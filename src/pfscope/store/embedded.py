"""The store in one directory: recent days in DuckDB, the past in Parquet, both seen as one.

What `commit` returned from is safe from the end of the process and of the machine, and none of a
batch is kept when it did not return. Queries and housekeeping go on beside commits.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from duckdb import DuckDBPyConnection

from pfscope.errors import InputError, UsageError
from pfscope.store import migrations, parts, plain
from pfscope.store.database import Database, Resources, first_line
from pfscope.store.frame_index import FINGERPRINTS, FrameIndex, fingerprint
from pfscope.store.housekeeping import Housekeeping, Rules
from pfscope.store.layout import DAILY, DATABASE, DAY_US, PARQUET, SCRATCH
from pfscope.store.lock import DirectoryLock
from pfscope.store.patience import stopped_in_time
from pfscope.store.protocol import CommitDoubtError, LedgerChange, StoreError
from pfscope.store.readers import Readers
from pfscope.store.retention import Removed
from pfscope.store.schema import LEDGER, TABLES

_LEDGER_LINES = 100_000
"""The ledger's changes are summed up when there are more of them."""
_DOUBT = "whether the last batch was kept is not known until the store answers again"
_READING = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


def open_store(
    directory: Path,
    *,
    create: bool = True,
    read_only: bool = False,
    rules: Rules | None = None,
    resources: Resources | None = None,
    step: Callable[[str], None] = lambda _name: None,
) -> "EmbeddedStore":
    """Open the store in a directory, and make it where there is none unless told not to.

    `step` is called with the name of each step of housekeeping, so that tests can fail there.
    """
    directory = directory.resolve()
    if not (directory / DATABASE).exists():
        if read_only or not create:
            raise InputError(f"{directory} holds no store ({DATABASE} is not there)")
        directory.mkdir(parents=True, exist_ok=True)
    lock = DirectoryLock(directory, shared=read_only)
    try:
        return EmbeddedStore(
            directory, lock, rules or Rules(), resources or Resources(), step, read_only=read_only
        )
    except BaseException:
        lock.release()
        raise


class _Batch(NamedTuple):
    """What to know of a batch when it is safe, and to recognise it by."""

    number: int
    days: set[tuple[str, int]]
    frames: list[int]


class EmbeddedStore:
    """An open store; see `protocol.Store`. All methods may be called from any thread."""

    def __init__(
        self,
        directory: Path,
        lock: DirectoryLock,
        rules: Rules,
        resources: Resources,
        step: Callable[[str], None],
        *,
        read_only: bool,
    ) -> None:
        self.directory = directory
        self.read_only = read_only
        self._lock = lock
        self._writing = threading.Lock()
        self._maintaining = threading.Lock()
        self._readers = Readers()
        self._fresh_days: set[tuple[str, int]] = set()
        self._doubt: _Batch | None = None
        self._commits: int | None = None
        self._database = Database(directory, resources, read_only=read_only)
        try:
            self._prepare()
            self._frames = FrameIndex(self._fingerprints())
        except BaseException:
            self._database.close()
            raise
        self._keeping = Housekeeping(directory, self._database, self._readers, rules, step)

    def __enter__(self) -> "EmbeddedStore":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def next_series(self) -> int:
        """Return the first number that no series has."""
        with self._database.cursor() as cursor:
            return parts.next_series(cursor)

    def operations(self) -> list[tuple[str, str]]:
        """Return (name, unit) of every operation, by number."""
        with self._database.cursor() as cursor:
            return cursor.execute("SELECT name, unit FROM operations ORDER BY operation").fetchall()

    def committed_frames(self, since_us: int) -> set[tuple[str, str, int]]:
        """Return (server, epoch, sequence) of frames whose time is not before."""
        found = self.query(
            "SELECT server, epoch, sequence FROM frames WHERE time >= make_timestamptz(?)",
            [since_us],
        )
        return set(zip(*(column.to_pylist() for column in found.columns), strict=True))

    def has_frame(self, server: str, epoch: str, sequence: int) -> bool:
        """Tell whether the frame was committed."""
        if self._doubt:
            with self._writing:
                self._settle()
        if fingerprint(server, epoch, sequence) not in self._frames:
            return False
        found = self.query(
            "SELECT 1 FROM frames WHERE server = ? AND epoch = ? AND sequence = ? LIMIT 1",
            [server, epoch, sequence],
        )
        return bool(found.num_rows)

    def commit(self, batch: Mapping[str, pa.Table], ledger: Sequence[LedgerChange]) -> None:
        """Keep rows of any tables of the schema and count, in one durable transaction."""
        changes = [pa.array(list(column)) for column in zip(*ledger, strict=True)]
        rows = {**batch, "ledger_changes": pa.table(changes, LEDGER.names)} if ledger else batch
        _require_columns(rows)
        with self._writing:
            doubtful = self._doubt
            self._settle()
            number = 1 + (self._last_commit() if self._commits is None else self._commits)
            offered = _Batch(number, _days(batch), _marks(batch))
            if doubtful == offered._replace(number=number - 1):
                return  # it is the one that was in doubt, and it was kept
            try:
                with self._database.transaction() as cursor:
                    for name, table in rows.items():
                        _insert(cursor, name, table)
                    cursor.execute("UPDATE commits SET number = ?", [number])
            except StoreError:
                # A commit can be safe and yet fail, in the checkpoint that it sets off.
                self._doubt = offered
                self._settle()
                if self._commits != number:
                    raise
            else:
                self._keep(offered)

    def ledger(self) -> pa.Table:
        """Return the ledger's lines, summed."""
        return self.query("SELECT * FROM ledger")

    def query(self, sql: str, parameters: Sequence[object] = ()) -> pa.Table:
        """Run one SELECT over all tables of the schema."""
        with self._readers.reading(), self._database.cursor() as cursor:
            _require_reading(cursor, sql)
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            try:
                with stopped_in_time(cursor.interrupt):
                    return cursor.sql(sql, params=list(parameters)).to_arrow_table()
            except (duckdb.ProgrammingError, duckdb.DataError) as error:
                raise UsageError(f"this cannot be asked: {first_line(error)}") from error

    @contextmanager
    def stream(
        self, sql: str, parameters: Sequence[object] = (), rows: int = 131_072
    ) -> Iterator[pa.RecordBatchReader]:
        """Run one SELECT whose result need not fit in memory."""
        with self._readers.reading(), self._database.cursor() as cursor:
            _require_reading(cursor, sql)
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            yield cursor.sql(sql, params=list(parameters)).to_arrow_reader(rows)

    def parts(self) -> list[parts.Part]:
        """Return all Parquet files of the store, as recorded."""
        with self._database.cursor() as cursor:
            return parts.recorded(cursor)

    def maintain(self, now_us: int) -> None:
        """Do the housekeeping that is due."""
        self.expire(now_us)
        with self._maintaining:
            self._take_note(now_us)
            changed = [*self._keeping.roll(now_us), *self._keeping.merge(now_us)]
            if changed:
                plain.write_dimensions(self.directory, self._database)
            self._keeping.sweep()
        self._sum_ledger()

    def expire(self, now_us: int) -> list[Removed]:
        """Delete what is older than the retention of its table, and say so in the ledger."""
        with self._maintaining:
            removed = self._keeping.expire(now_us)
            self._keeping.sweep()
        if removed:
            self.commit({}, [LedgerChange("store", "", "dropped", "retention", 0, 0)])
        return removed

    def close(self) -> None:
        """Make everything safe and let go of the directory; calling it again does nothing."""
        with self._maintaining, self._writing:
            self._database.close()
            self._lock.release()

    def _prepare(self) -> None:
        for folder in (PARQUET, SCRATCH):
            if not self.read_only:
                (self.directory / folder).mkdir(exist_ok=True)
        with self._database.transaction() as cursor:
            version = migrations.version_of(cursor)
            if self.read_only:
                migrations.require_current(cursor, version, self.directory)
                return
            if version is None:
                migrations.create(cursor)
            else:
                migrations.migrate(cursor, version)
            parts.create_views(cursor, self.directory, DAILY)
            cursor.execute("UPDATE store SET directory = ?", [str(self.directory)])
        with self._database.cursor() as cursor:
            parts.remove_rubbish(self.directory, parts.recorded(cursor))
        parts.sync(self.directory)

    def _settle(self) -> None:
        """Find out what became of a batch in doubt."""
        if self._doubt is None:
            return
        try:
            last = self._last_commit()
        except StoreError as error:
            raise CommitDoubtError(f"{error}; {_DOUBT}") from error
        if last == self._doubt.number:
            self._keep(self._doubt)
        self._doubt = None

    def _keep(self, batch: "_Batch") -> None:
        """Take note of a batch that is safe."""
        self._commits = batch.number
        self._fresh_days.update(batch.days)
        self._frames.add(batch.frames)

    def _last_commit(self) -> int:
        with self._database.cursor() as cursor:
            found = cursor.execute("SELECT number FROM commits").fetchone()
        assert found
        return int(found[0])

    def _fingerprints(self) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
        marks = self.query(FINGERPRINTS).column("mark")
        # Not by `to_numpy`, which loads pandas.
        return np.concatenate([np.empty(0, np.uint64), *map(np.from_dlpack, marks.chunks)])

    def _take_note(self, now_us: int) -> None:
        with self._writing:
            fresh, self._fresh_days = self._fresh_days, set()
        self._keeping.touch(fresh, now_us)

    def _sum_ledger(self) -> None:
        with self._writing, self._database.transaction() as cursor:
            count = cursor.execute("SELECT count(*) FROM ledger_changes").fetchone()
            if count and count[0] > _LEDGER_LINES:
                cursor.execute("CREATE TEMP TABLE summed AS FROM ledger")
                cursor.execute("DELETE FROM ledger_changes")
                cursor.execute("INSERT INTO ledger_changes FROM summed")
                cursor.execute("DROP TABLE summed")


def _columns(name: str) -> list[str]:
    return list(TABLES["ledger" if name == "ledger_changes" else name].names)


def _require_columns(batch: Mapping[str, pa.Table]) -> None:
    for name, rows in batch.items():
        columns = sorted(_columns(name))
        if sorted(rows.column_names) != columns:
            raise ValueError(f"{name} has not the columns {columns}")


def _insert(cursor: DuckDBPyConnection, name: str, rows: pa.Table) -> None:
    where = f"hot.{name}" if name in DAILY else name
    # By position, as tables have the schema's order: to insert by name takes a view for each table,
    # which small batches notice.
    cursor.from_arrow(rows.select(_columns(name))).insert_into(where)


def _days(batch: Mapping[str, pa.Table]) -> set[tuple[str, int]]:
    """Return the (table, day) that the batch has rows for."""
    return {
        (name, time_us // DAY_US)
        for name, rows in batch.items()
        if name in DAILY
        for time_us in pc.unique(rows.column(DAILY[name])).drop_null().cast(pa.int64()).to_pylist()
    }


def _marks(batch: Mapping[str, pa.Table]) -> list[int]:
    """Return the fingerprints of the frames that the batch brings."""
    if "frames" not in batch:
        return []
    frames = batch["frames"]
    columns = (frames.column(name).to_pylist() for name in ("server", "epoch", "sequence"))
    return [fingerprint(*frame) for frame in zip(*columns, strict=True)]


def _require_reading(cursor: DuckDBPyConnection, sql: str) -> None:
    try:
        statements = cursor.extract_statements(sql)
    except duckdb.Error as error:
        raise UsageError(f"this is no SQL: {first_line(error)}") from error
    if len(statements) != 1 or statements[0].type not in _READING:
        raise UsageError("only a single SELECT can be run on a store")
