"""A real terminal for a real process: what it draws is read, keys are typed."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from contextlib import contextmanager


class Terminal:
    """The other side of a pseudo terminal."""

    def __init__(self, pid, master):
        self.pid, self._master = pid, master
        self.drawn = b""

    def type(self, keys):
        os.write(self._master, keys)

    def until(self, *texts, since=0):
        """Read until texts were drawn after some byte."""
        deadline = time.monotonic() + 30
        while not all(text in self.drawn[since:] for text in texts):
            assert time.monotonic() < deadline, self.drawn[since:][-2000:]
            if not self._read(0.1):
                break
        assert all(text in self.drawn[since:] for text in texts), self.drawn[since:][-2000:]

    def _read(self, wait_s):
        """Read what comes; False: it has ended."""
        if not select.select([self._master], [], [], wait_s)[0]:
            return True
        try:
            self.drawn += (got := os.read(self._master, 65536))
        except OSError:
            return False
        return bool(got)

    def end(self):
        """Read the rest, and return the exit code."""
        deadline = time.monotonic() + 30
        while self._read(0.1):
            assert time.monotonic() < deadline, self.drawn[-2000:]
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def modes(self):
        return termios.tcgetattr(self._master)


@contextmanager
def terminal(command, size=(80, 24), **environment):
    """Run a command in a terminal of its own."""
    pid, master = pty.fork()
    if not pid:
        os.environ.update(environment)
        os.execv(command[0], command)
    try:
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        yield Terminal(pid, master)
    finally:
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        os.close(master)
