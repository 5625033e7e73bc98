"""Frames in, usage stored: the one path of live, imported and replayed data.

Frames are put into order, read, and compared with what is remembered; what they add is stored in
one transaction with their names, so that each is counted once. The memory runs ahead of the store
by at most the batch that is being stored; that batch is kept until the store has taken it.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pfscope.config import Config
from pfscope.frames import FrameError
from pfscope.ingest import checkpoint
from pfscope.ingest.batch import Batch, quality_columns, totals_columns
from pfscope.ingest.clock import Tick
from pfscope.ingest.difference import difference
from pfscope.ingest.entries import Snapshot
from pfscope.ingest.memory import Memory
from pfscope.ingest.order import WAIT_S, Sequencer
from pfscope.ingest.reading import FrameReader, Readable, Reading
from pfscope.ingest.series import Limits, SeriesNumbers
from pfscope.ingest.totals import ProcessorTime, Totals
from pfscope.store.protocol import Store

BATCH_FRAMES = 64
FUTURE_S = 24 * 3600.0
"""A frame made so much later than now would make everything after it look late."""
GONE_AFTER_US = 6 * 3600 * 10**6
"""A series that its target has not shown for so long has ended; its id begins a new one."""
GONE_EARLY_US = 30 * 60 * 10**6
"""The same where a target has more entries than the limit: three times what Lustre keeps by default
what is idle, so that a flood that went by does not fill the memory."""
FORGET_AFTER_US = 24 * 3600 * 10**6
"""So has every series of a target that nobody has shown."""
_MOST = 2**63 - 1
_FORGET_EVERY_US = 3600 * 10**6

Key = tuple[str, str, int]


class Ingest:
    """Takes frames and fills a store. Not for more than one thread."""

    def __init__(
        self,
        store: Store,
        config: Config | None = None,
        limits: Limits | None = None,
        *,
        wait_s: float = WAIT_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._limits = limits or Limits()
        self.store = store
        self.memory = Memory()
        self.memory.rows_of(store.operations())
        self.series = SeriesNumbers(
            store.next_series(), config or Config(), self._limits, self.memory
        )
        self.totals = Totals()
        self.read: Callable[[Readable], Reading] = FrameReader()
        self.order = Sequencer(wait_s)
        self._processors = ProcessorTime()
        self._clock = clock
        self._stored_operations = len(self.memory.operations)
        self._batch = Batch()
        self.known_since: dict[str, int] = {}
        """The time of each server's latest frame."""
        self._since_checkpoint: set[Key] = set()
        self._forgotten_us = 0

    def take(self, frames: Sequence[Readable]) -> None:
        """Take frames and store what is in turn; with none, only see whose waiting is over.

        When the store fails, its error is raised; the batch is kept and stored by the next call.
        """
        for frame in frames:
            if frame.origin.wall_ns / 1e9 > self._clock() + FUTURE_S:
                time_us = int(self._clock() * 1e6)
                self._reject(frame, Tick(time_us), "made in the future", self._batch)
            else:
                self.order.add(frame, self._clock())
        if len(self._batch) >= BATCH_FRAMES:
            self._commit()
        for frame, tick in self.order.ready(self._clock()):
            self._add(frame, tick, self._batch)
            if len(self._batch) >= BATCH_FRAMES:
                self._commit()
        self._commit()

    def waiting(self) -> set[Key]:
        """Return the frames that were taken and are not stored yet."""
        return self._batch.frames | {frame.key for frame in self.order.held()}

    def recover(self, frames: Iterable[Readable]) -> None:
        """Restore the memory, then take frames that may be in it, in the store, or in neither."""
        included = checkpoint.load(self, self._directory)
        if included is None:
            self.series.next_series = 0
        self.series.resume(self.store)
        for frame in frames:
            if included and frame.key in included:
                continue
            if self.store.has_frame(*frame.key):
                self.replay(frame)
            else:
                self.take([frame])
        self.series.known = {}

    def checkpoint(self) -> None:
        """Write the memory down: what is stored now need not be replayed any more."""
        checkpoint.save(self, self._directory, self._since_checkpoint)
        self._since_checkpoint = set()

    @property
    def _directory(self) -> Path:
        return self.store.directory / "memory"

    def replay(self, frame: Readable) -> None:
        """Remember a frame that is in the store already."""
        self._add(frame, self.order.release(frame, self._clock()), Batch())
        self.series.take_rows()

    def _commit(self) -> None:
        batch = self._batch
        if len(batch):
            batch.add("series", self.series.take_rows())
            self.store.commit(batch.tables(), batch.ledger)
            self._since_checkpoint |= batch.frames
            self._batch = Batch()

    def _add(self, frame: Readable, tick: Tick, batch: Batch) -> None:
        try:
            reading = self.read(frame)
        except FrameError:
            self._reject(frame, tick, "unreadable payload", batch)
        else:
            self._add_reading(frame, reading, tick, batch)

    def _reject(self, frame: Readable, tick: Tick, reason: str, batch: Batch) -> None:
        batch.frames.add(frame.key)
        batch.add_row("frames", self._frame_row(frame, tick, "rejected"))
        batch.count(frame.origin.server, "received", "", 1, 0)
        batch.count(frame.origin.server, "rejected", reason, 1, 0)

    def _add_reading(self, frame: Readable, reading: Reading, tick: Tick, batch: Batch) -> None:
        batch.frames.add(frame.key)
        server = frame.origin.server
        known_since = self.known_since.get(server)
        late = known_since is not None and tick.time_us <= known_since
        if not late:
            self.known_since[server] = tick.time_us
        state = "late" if late else "stored"
        restarted = self._add_totals(reading, tick, batch)
        snapshot = Snapshot(
            server,
            tick.time_us,
            reading.stats,
            None if late else known_since,
            reading.server_ns or reading.origin.wall_ns,
            restarted,
            reading.cleanup_s,
        )
        self._add_usage(reading, snapshot, batch)
        if not late:
            self._add_load(reading, tick, batch)
        batch.add_row("frames", self._frame_row(frame, tick, state, reading))
        batch.count(server, "received", "", 1, reading.stats.entries)
        batch.count(server, "stored", "late" if late else "", 1, 0)
        self._forget(tick.time_us)

    def _add_usage(self, reading: Reading, snapshot: Snapshot, batch: Batch) -> None:
        stats, server, time_us = reading.stats, reading.origin.server, snapshot.time_us
        self.series.now_us, self.series.folded = time_us, 0
        usage = difference(snapshot, self.memory, self.series)
        busy = set(stats.targets)
        for target in reading.targets:
            if target not in busy:
                server_ns = reading.server_ns or reading.origin.wall_ns
                self.memory.target(server, target).observe(time_us, server_ns)
        self._make_room(server, stats.targets)
        others = np.array(list(self.series.others.values()), np.int64)
        batch.add_usage(usage, others)
        self._add_operations(batch)
        quality = self.memory.quality[usage.entry_slot]
        batch.add_columns("quality", quality_columns(time_us, server, stats, quality))
        uncounted = stats.entries - int(np.count_nonzero(usage.counted))
        batch.count(server, "duplicate", "repeated or already counted", 0, uncounted)
        batch.count(server, "stored", "in a shared series", 0, self.series.folded)
        batch.count(server, "stored", "", 0, stats.entries - uncounted - self.series.folded)

    def _add_operations(self, batch: Batch) -> None:
        new = self.memory.operations[self._stored_operations :]
        for number, (name, unit) in enumerate(new, self._stored_operations):
            batch.add_row("operations", {"operation": number, "name": name, "unit": unit})
        self._stored_operations += len(new)

    def _add_totals(self, reading: Reading, tick: Tick, batch: Batch) -> frozenset[str]:
        """Add what targets counted themselves; return those that restarted."""
        restarted, server = set(), reading.origin.server
        for target, stats in reading.totals:
            counted, anew = self.totals.take((server, target), tick.time_us, stats)
            if anew:
                restarted.add(target)
            if counted and counted.operations:
                rows = self.memory.rows_of(counted.operations)
                columns = totals_columns(tick.time_us, server, target, counted, rows)
                batch.add_columns("target_totals", columns)
        self._add_operations(batch)
        return frozenset(restarted)

    def _add_load(self, reading: Reading, tick: Tick, batch: Batch) -> None:
        busy, iowait = self._processors.take(reading.origin.server, reading.cpu_ticks)
        load = reading.load
        memory = {name: min(size, _MOST) for name, size in (reading.memory or {}).items()}
        if load is None and busy is None and not memory:
            return
        row = {
            "time": tick.time_us,
            "server": reading.origin.server,
            "load_1": load and load.one,
            "load_5": load and load.five,
            "load_15": load and load.fifteen,
            "cpu_busy": busy,
            "cpu_iowait": iowait,
            "memory_total": memory.get("MemTotal"),
            "memory_available": memory.get("MemAvailable"),
        }
        batch.add_row("server_load", row)

    def _frame_row(
        self, frame: Readable, tick: Tick, state: str, reading: Reading | None = None
    ) -> dict[str, Any]:
        origin = frame.origin
        return {
            "server": origin.server,
            "epoch": origin.epoch,
            "sequence": origin.sequence,
            "time": tick.time_us,
            "received": round(self._clock() * 1e6),
            "state": state,
            "entries": reading.stats.entries if reading else 0,
            "defects": len(reading.defects) if reading else 0,
            "raw_bytes": frame.raw_bytes,
            "read_us": reading.read_us if reading else 0,
            "clock_step_us": tick.step_us,
        }

    def _make_room(self, server: str, targets: Sequence[str]) -> None:
        """Forget what is gone of targets with too many entries."""
        for name in targets:
            target = self.memory.target(server, name)
            if len(target.slots) > self._limits.entries_per_target:
                self.memory.forget(target, target.observed_us[-1] - GONE_EARLY_US)

    def _forget(self, now_us: int) -> None:
        if now_us - self._forgotten_us < _FORGET_EVERY_US:
            return
        self._forgotten_us = now_us
        for target in self.memory.targets.values():
            latest_us = target.observed_us[-1] if target.observed_us else 0
            horizon_us = max(latest_us - GONE_AFTER_US, now_us - FORGET_AFTER_US)
            self.memory.forget(target, horizon_us)
