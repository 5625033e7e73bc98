"""How long rows are kept, table by table, in days; what is older goes for good."""

from dataclasses import dataclass, fields
from typing import NamedTuple

from pfscope.errors import UsageError


@dataclass(frozen=True, slots=True)
class Retention:
    """Days for each table; None is for ever. A series is kept as long as any usage of it."""

    usage_mdt: int | None = None
    usage_ost: int | None = None
    histograms: int | None = None
    target_totals: int | None = None
    server_load: int | None = None
    quality: int | None = None
    frames: int | None = None

    def __post_init__(self) -> None:
        for table, days in self.limits().items():
            if days < 1:
                raise UsageError(f"retention of {table}: {days} days; at least 1 can be kept")

    def limits(self) -> dict[str, int]:
        """Return the days of the tables that are not kept for ever."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {table: days for table, days in values.items() if days is not None}

    @property
    def usage_days(self) -> int | None:
        """How long any usage is kept."""
        if self.usage_mdt is None or self.usage_ost is None:
            return None
        return max(self.usage_mdt, self.usage_ost)


class Removed(NamedTuple):
    """What retention deleted of one day."""

    table: str
    day: int
    rows: int
