"""The names of the keys by which usage is grouped, and patterns for names; it imports nothing."""

import re
from typing import Final

KEYS: Final = (
    "filesystem", "server", "target", "kind", "operation", "user", "group", "project", "job",
    "array", "node", "executable", "partition", "class",
)  # fmt: skip
_NULL: Final = "!*"
"""Fits what has no name."""


def exactly(name: str | None) -> str:
    """Return the pattern that fits one name alone.

    >>> exactly("r01c07"), exactly("a*[1]"), exactly("1..2"), exactly(None)
    ('r01c07', 'a[*][[]1]', '1[.].2', '!*')
    """
    if name is None:
        return _NULL
    pattern = literally(name)
    # A name cannot begin with what turns a pattern round; no character stands for it alone.
    return f"[~!]{pattern[1:]}" if pattern.startswith("!") else pattern


def literally(text: str) -> str:
    """Return text in which nothing stands for something else."""
    return re.sub(r"([*?[])|\.(?=\.)", lambda found: f"[{found[1] or '.'}]", text)
