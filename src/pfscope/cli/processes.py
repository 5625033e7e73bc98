"""Child processes of a command: they end with it, whatever ends it, and say why if before.

Each runs one of our modules and writes to a log of its own, whose end is shown when it fails.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pfscope.errors import PfscopeError

_TAIL = 5


@dataclass(frozen=True, slots=True)
class _Child:
    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def last_words(self) -> str:
        lines = self.log.read_text(errors="backslashreplace").strip().splitlines()
        return "\n".join(lines[-_TAIL:]) or "it said nothing"


class Processes:
    """Starts children, notices when one ends too early, ends them all at the end."""

    def __init__(self, logs: Path, patience_s: float = 10.0) -> None:
        self._logs = logs
        self._patience_s = patience_s
        self._children: list[_Child] = []

    def __enter__(self) -> Self:
        self._logs.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_exception: object) -> None:
        for child in self._children:
            child.process.terminate()
        for child in self._children:
            try:
                child.process.wait(self._patience_s)
            except subprocess.TimeoutExpired:
                child.process.kill()
                child.process.wait()

    def start(self, name: str, module: str, *arguments: str) -> Path:
        """Run `python -m module` with these arguments; return where it writes what it says."""
        bound = [sys.executable, "-m", "pfscope.cli.bound", str(os.getpid()), module]
        log = self._logs / f"{name.replace(' ', '-')}.txt"
        with log.open("wb") as out:
            # A session of its own: Ctrl-C reaches us alone, and we end the children in order.
            process = subprocess.Popen(  # noqa: S603 - our own modules
                [*bound, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        self._children.append(_Child(name, process, log))
        return log

    def run(self, name: str, module: str, *arguments: str) -> None:
        """Run one to its end; raise if it fails."""
        self.start(name, module, *arguments)
        child = self._children[-1]
        if code := child.process.wait():
            raise PfscopeError(f"the {child.name} failed ({code}): {child.last_words()}")
        self._children.remove(child)

    def check(self) -> None:
        """Raise if a child has ended by itself."""
        for child in self._children:
            code = child.process.poll()
            if code is not None:
                raise PfscopeError(f"the {child.name} ended ({code}): {child.last_words()}")
