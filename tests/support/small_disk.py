"""A small file system of its own for a test: it fills up as disks do, and any user may make one.

It is mounted in a user and mount namespace that a waiting process holds open; commands that should
see it are run with `enter` before them, and `root` shows it from here.
"""

import os
import subprocess
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

_HOLD = 'mount -t tmpfs -o "size=$1" tmpfs "$2" && echo mounted && exec cat'


class SmallDisk:
    """A mounted file system."""

    def __init__(self, holder_pid, mounted_on):
        self.path = mounted_on
        """Where those who entered find it."""
        self.root = Path(f"/proc/{holder_pid}/root{mounted_on}")
        self.enter = ["nsenter", f"--target={holder_pid}", "--user", "--mount"]
        self.enter += ["--preserve-credentials", "--"]
        self._filler = self.root / "filler"

    @property
    def free_bytes(self):
        found = os.statvfs(self.root)
        return found.f_bavail * found.f_frsize

    def fill(self):
        """Let somebody else's file take all there is."""
        # Others write meanwhile: what was free a moment ago may be too much.
        with self._filler.open("ab", buffering=0) as file, suppress(OSError):
            while size := self.free_bytes:
                file.write(bytes(size))

    def make_room(self):
        self._filler.unlink(missing_ok=True)

    def grow(self, size_bytes):
        options = ["mount", "-o", f"remount,size={size_bytes}", str(self.path)]
        subprocess.run([*self.enter, *options], check=True)


@contextmanager
def small_disk(directory, size_bytes):
    """Mount a file system of so many bytes on a directory, for those who enter."""
    directory.mkdir()
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", _HOLD, "sh"]
    with subprocess.Popen(
        [*command, str(size_bytes), str(directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as holder:
        if holder.stdout.readline() != "mounted\n":
            pytest.skip(f"no mount namespaces here: {holder.stderr.read().strip()}")
        yield SmallDisk(holder.pid, directory)
