"""What somebody wants to see of now, read from words as questions are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pfscope.errors import UsageError
from pfscope.query.request import Form, Option
from pfscope.times import duration_us

SORT: Final = Option("sort", str, "load", "the column that decides who comes first")
LIMIT: Final = Option("limit", int, 500, "so many rows at most")
OVER: Final = Option("over", str, None, "means of so long a time instead of the last observation")
AT: Final = Option("at", str, None, "as it was then: ISO 8601, or before the newest observation")
COLUMNS: Final = Option("columns", str, None, "only these columns, and that of `sort`: load,iops")
PARTS: Final = Option("parts", int, 0, "of each server, so many of those with the largest part")
OPTIONS: Final = (SORT, LIMIT, OVER, AT, COLUMNS, PARTS)
FORM: Final = Form(("user",), OPTIONS)
_LONGEST_US: Final = 10 * 60 * 10**6
_PLAIN: Final = ("from", "to", "step", "operation", "login")


@dataclass(frozen=True)
class Wish:
    """A table of now: grouped, filtered, sorted and cut."""

    by: tuple[str, ...]
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()
    system: bool | None = None
    sort: str = "load"
    limit: int = 500
    over_us: int | None = None
    at: str | None = None
    columns: tuple[str, ...] = ()
    """Empty: all."""
    parts: int = 0

    @staticmethod
    def read(words: Mapping[str, Sequence[str]]) -> "Wish":
        """Read it from words; what makes no sense is a `UsageError`."""
        for name in _PLAIN:
            if words.get(name):
                raise UsageError(f"{name!r} is no word of now, which is the last observation")
        request = FORM.request(words)
        if "operation" in request.by:
            raise UsageError("now has a column for every operation: leave it out of `by`")
        over = request.option("over")
        over_us = None if over is None else duration_us(over)
        if over_us is not None and over_us > _LONGEST_US:
            raise UsageError("over can be 10m at most: ask for totals of longer times")
        columns = request.option("columns")
        return Wish(
            request.by,
            request.where,
            request.system,
            request.option("sort"),
            request.option("limit"),
            over_us,
            request.option("at"),
            tuple(columns.split(",")) if columns else (),
            request.option("parts"),
        )
