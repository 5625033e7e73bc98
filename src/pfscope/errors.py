"""Every error that pfscope raises on purpose, and the exit code each one ends a command with.

    PfscopeError                exit 1: told in one line, with what to do next
    ├── UsageError              exit 2: the command line or the configuration asks for nonsense
    └── InputError              exit 1: a file, a directory or a text that cannot be used

A bad record inside good data is not an error: it is counted and kept aside where it is read.
Anything that is not a PfscopeError is a bug and shows its traceback.
"""

from typing import ClassVar


class PfscopeError(Exception):
    """The base of all errors whose text is written for the person at the keyboard."""

    exit_code: ClassVar[int] = 1


class UsageError(PfscopeError):
    """What was asked for makes no sense; nothing was done."""

    exit_code = 2


class InputError(PfscopeError):
    """A file, a directory or a text that was named cannot be used."""
