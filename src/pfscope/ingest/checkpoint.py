"""The memory of the ingest on disk, so that a restart goes on where the last one stopped.

One file of arrays, replaced atomically. It holds the state after a set of frames, whose names it
keeps until the journal has let go of them: what a restart still finds there is not replayed.
"""

import dataclasses
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from pfscope.frames import Origin
from pfscope.ingest.cells import Cells
from pfscope.ingest.clock import ServerClock
from pfscope.ingest.memory import Memory, Slots, TargetMemory
from pfscope.ingest.totals import Held

if TYPE_CHECKING:
    from pfscope.ingest.ingest import Ingest

Key = tuple[str, str, int]

FORMAT: Final = 1
_NAME: Final = "memory.npz"
_ARRAYS: Final = (*Memory.TIMES, *Memory.FACTS)
_CELLS: Final = ("counters", "histograms")


def save(ingest: "Ingest", directory: Path, frames: set[Key]) -> None:
    """Write the state of an ingest, in which `frames` are the latest."""
    directory.mkdir(exist_ok=True)
    memory = ingest.memory
    ids = [raw for target in memory.targets.values() for raw in target.slots]
    slots = np.array([s for t in memory.targets.values() for s in t.slots.values()], np.int64)
    arrays: dict[str, Any] = {name: getattr(memory, name)[slots] for name in _ARRAYS}
    for name in _CELLS:
        arrays |= _packed(name, getattr(memory, name), slots)
    arrays["ids"] = np.frombuffer(b"".join(ids), np.uint8)
    arrays["id_sizes"] = np.array([len(raw) for raw in ids], np.int64)
    arrays["state"] = np.frombuffer(json.dumps(_state(ingest, frames)).encode(), np.uint8)
    temporary = directory / f"{_NAME}.tmp"
    try:
        with temporary.open("wb") as file:
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(directory / _NAME)
    finally:
        temporary.unlink(missing_ok=True)  # on a full disk it would hold the room
    _sync_directory(directory)


def load(ingest: "Ingest", directory: Path) -> set[Key] | None:
    """Restore the state of an ingest and return the latest frames in it; None if there is none."""
    path = directory / _NAME
    if not path.exists():
        return None
    with np.load(path, allow_pickle=False) as arrays:
        state = json.loads(arrays["state"].tobytes())
        if state["format"] != FORMAT:
            return None
        _restore(ingest, state)
        _restore_slots(ingest.memory, state["targets"], arrays)
    return {(server, epoch, sequence) for server, epoch, sequence in state["frames"]}


def _state(ingest: "Ingest", frames: set[Key]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "frames": sorted(frames),
        "next_series": ingest.series.next_series,
        "others": ingest.series.others,
        "operations": ingest.memory.operations,
        "targets": [
            [*key, len(t.slots), t.observed_us, t.known_from_us, t.server_ns]
            for key, t in ingest.memory.targets.items()
        ],
        "order": [
            [origin._asdict(), dataclasses.asdict(clock)]
            for origin, clock in ingest.order.released().values()
        ],
        "known_since": ingest.known_since,
        "totals": [
            [*key, held.time_us, _lines(held)] for key, held in ingest.totals.targets.items()
        ],
    }


def _restore(ingest: "Ingest", state: dict[str, Any]) -> None:
    ingest.series.next_series = state["next_series"]
    ingest.series.others = state["others"]
    ingest.memory.rows_of([(name, unit) for name, unit in state["operations"]])
    for origin, clock in state["order"]:
        last = Origin(**(origin | {"filesystems": tuple(origin["filesystems"])}))
        ingest.order.resume(last, ServerClock(**clock))
    ingest.known_since = state["known_since"]
    ingest.totals.targets = {
        (server, target): _held(time_us, lines)
        for server, target, time_us, lines in state["totals"]
    }


def _restore_slots(memory: Memory, targets: list[Any], arrays: Any) -> None:
    slots = memory.allocate(len(arrays["id_sizes"]))
    for name in _ARRAYS:
        getattr(memory, name)[slots] = arrays[name]
    for name in _CELLS:
        _unpack(name, getattr(memory, name), slots, arrays)
    ends = np.cumsum(arrays["id_sizes"]).tolist()
    joined = arrays["ids"].tobytes()
    ids = [joined[a:b] for a, b in zip([0, *ends], ends, strict=False)]
    at = 0
    for server, name, count, *times in targets:
        held_slots = dict(zip(ids[at : at + count], slots[at : at + count].tolist(), strict=True))
        memory.remember(server, name, TargetMemory(held_slots, *times))
        at += count


def _lines(held: Held) -> list[list[Any]]:
    """Return totals as one line for each operation: name, unit, counts."""
    columns = zip(held.operations, held.counts.T.tolist(), strict=True)
    return [[*operation, *counts] for operation, counts in columns]


def _held(time_us: int, lines: list[list[Any]]) -> Held:
    """Undo `_lines`."""
    operations = tuple((name, unit) for name, unit, *_ in lines)
    counts = np.array([counts for _, _, *counts in lines], np.uint64).reshape(-1, 3)
    return Held(time_us, operations, counts.T)


def _packed(name: str, cells: Cells, slots: Slots) -> dict[str, NDArray[Any]]:
    """Return the cells of some slots as arrays: whose they are, and what they hold."""
    place, operation, cell = cells.pairs(slots)
    columns = {"places": place, "operations": operation, "values": cells.values[cell]}
    return {f"{name}_{column}": values for column, values in columns.items()}


def _unpack(name: str, cells: Cells, slots: Slots, arrays: Any) -> None:
    """Undo `_packed`, into fresh slots."""
    place, operation = arrays[f"{name}_places"], arrays[f"{name}_operations"]
    claimed = cells.claim(slots[place], operation)
    cells.values[claimed] = arrays[f"{name}_values"]


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
