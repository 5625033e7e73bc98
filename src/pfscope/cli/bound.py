"""`python -m pfscope.cli.bound PARENT MODULE …` runs a module that ends when its parent does.

The kernel sends SIGTERM when the parent is gone, however it went; Linux only, as the parent is.
"""

import ctypes
import os
import runpy
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(parent: int, arguments: list[str]) -> None:
    """Bind this process to its parent, then become the module."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it went before we asked
        return
    sys.argv = arguments
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
