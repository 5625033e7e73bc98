"""Functions of a group that have a name in Python: `files.group("job_id", osts=ost_count)`."""

from typing import Final, NamedTuple


class Aggregate(NamedTuple):
    """A function of a group, as an expression."""

    text: str

    def __call__(self, column: str) -> "Aggregate":
        """Return the same of another column."""
        return Aggregate(f"{self.text.partition('(')[0]}({column})")


ost_count: Final = Aggregate("ost_count(osts)")
"""How many different OSTs the sets in `osts` have together."""
ost_union: Final = Aggregate("ost_union(osts)")
"""The union of the sets in `osts`."""
