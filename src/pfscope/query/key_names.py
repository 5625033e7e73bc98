"""The names of all keys by which usage is grouped and filtered; to know them costs nothing."""

from typing import Final

KEYS: Final = (
    "filesystem", "server", "target", "kind", "operation", "user", "group", "project", "job",
    "array", "node", "executable", "partition", "class",
)  # fmt: skip
