"""A live tree: for each simulated server a directory with the files that the real one would have.

    DIR/<server>/proc/fs/lustre/…       and sys/fs/lustre, sys/kernel/debug/lustre, by release
    DIR/<server>/proc/loadavg, stat, meminfo, uptime, sys/kernel/random/boot_id
    DIR/<server>/bin/lctl               get_param and list_param on that tree

A reader always finds a whole file: each is written beside its place and renamed into it. What a
server no longer has is gone from its tree.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pfscope.errors import InputError, UsageError
from pfscope.lab import lctl
from pfscope.lab.tables import ServerSnapshot
from pfscope.lab.text import server_files


def require_empty(directory: Path) -> None:
    """Refuse a directory that holds something: what is there would pass for a server's files."""
    if directory.is_dir() and any(directory.iterdir()):
        raise UsageError(f"{directory} is not empty: name a directory that is, or a new one")


class LiveTree:
    """Shows snapshots as files below one directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._shown: dict[str, set[Path]] = {}

    def show(self, snapshot: ServerSnapshot) -> None:
        """Bring one server's files to the state of the snapshot."""
        root = self._directory / snapshot.server
        before = self._shown.get(snapshot.server)
        if before is None:
            _install_lctl(root, snapshot.dialect.lctl)
        now = set()
        for file in server_files(snapshot.dialect, snapshot):
            path = root / file.path.lstrip("/")
            _replace(path, file.value)
            now.add(path)
        for gone in (before or set()) - now:
            _remove(gone, root)
        self._shown[snapshot.server] = now


def _install_lctl(root: Path, style: str) -> None:
    path = root / "bin" / "lctl"
    _replace(path, lctl.script(style).encode())
    path.chmod(0o755)


def _replace(path: Path, content: bytes) -> None:
    beside = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {os.strerror(error.errno or 0)}") from error


def _remove(path: Path, root: Path) -> None:
    path.unlink(missing_ok=True)
    for folder in path.parents:
        if folder == root or any(folder.iterdir()):
            return
        folder.rmdir()


class Stop(Protocol):
    """What ends a run: a `threading.Event`, or a test's."""

    def wait(self, timeout: float | None = None) -> bool:
        """Wait, and tell whether to stop."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast the simulated time runs: one step of it every `step_s / speed` seconds."""

    step_s: float
    speed: float = 1.0

    @property
    def wall_s(self) -> float:
        """Seconds of real time for one step."""
        return self.step_s / self.speed


Step = Sequence[ServerSnapshot]


def keep_going(
    tree: LiveTree,
    steps: Iterable[Step],
    pace: Pace,
    stop: Stop | None = None,
    *,
    told: Callable[[Step, float], None] = lambda *_: None,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Show step after step at its time until the steps end or `stop` says so; count the steps.

    `told` learns of each step and how many seconds it came late.
    """
    stop = stop or threading.Event()
    begin = clock()
    shown = 0
    for step in steps:
        due = begin + shown * pace.wall_s
        if stop.wait(max(0.0, due - clock())):
            break
        for snapshot in step:
            tree.show(snapshot)
        told(step, max(0.0, clock() - due))
        shown += 1
    return shown
