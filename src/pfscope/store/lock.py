"""One process at a time has a data directory: the lock, and who holds it.

The lock is the kernel's, on `DIR/lock`, and ends with its process, however sudden; the text in the
file only tells people who that is.
"""

import fcntl
import os
import socket
from pathlib import Path
from types import TracebackType

from pfscope.errors import InputError
from pfscope.untrusted import ascii_text

NAME = "lock"


class DirectoryLock:
    """Holds `DIR/lock` until it is released."""

    def __init__(self, directory: Path, *, shared: bool = False) -> None:
        path = directory / NAME
        try:
            # Who only reads may have no right to write here.
            flags = os.O_RDONLY if shared and path.exists() else os.O_RDWR | os.O_CREAT
            self._fd = os.open(path, flags | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise InputError(f"cannot lock {directory}: {error.strerror}") from error
        try:
            fcntl.flock(self._fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _holder(self._fd)
            os.close(self._fd)
            raise InputError(
                f"{directory} is in use by {holder}; ask the server that holds it with "
                "--server URL, or stop it first"
            ) from None
        if not shared:
            self._sign()

    def release(self) -> None:
        """Let others in."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> "DirectoryLock":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def _sign(self) -> None:
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"{os.getpid()} {socket.gethostname()}\n".encode(), 0)


def _holder(fd: int) -> str:
    pid, _, host = os.pread(fd, 300, 0).partition(b"\n")[0].partition(b" ")
    if not pid.isdigit():
        return "another process"
    return f"process {int(pid)} on {ascii_text(host)}"
