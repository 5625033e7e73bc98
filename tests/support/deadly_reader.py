"""A reader of files whose process dies of some of them, for imports in real processes."""

import os
import signal

from pfscope.mine.records import Record


def read(_root, _batch, found, _period):
    """Read files; one whose name says so ends the process."""
    for one in found:
        if "deadly" in one.path:
            os.kill(os.getpid(), signal.SIGKILL)
    return [Record.read(one, None, None, 0, 0) for one in found]
