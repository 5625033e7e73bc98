"""What the demo's server has stored, read from its data directory after its end."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pfscope.store.embedded import open_store

_BUSIEST = """
    SELECT "user", sum(samples) / sum(sum(samples)) OVER () AS share
    FROM (FROM usage_mdt UNION ALL FROM usage_ost) JOIN series USING (series)
    WHERE NOT baseline AND NOT system AND "user" IS NOT NULL
    GROUP BY "user" ORDER BY share DESC LIMIT 1
"""
_FRAMES = "SELECT server, count(*) AS frames FROM frames GROUP BY server"
_ROWS = "SELECT count(*) AS n FROM (FROM usage_mdt UNION ALL FROM usage_ost) WHERE NOT baseline"


@dataclass(frozen=True, slots=True)
class Stored:
    """What a store holds."""

    frames: dict[str, int]
    rows: int
    busiest: str

    def lacking(self, servers: Sequence[str]) -> list[str]:
        """Return the servers of which nothing was stored."""
        return [server for server in servers if not self.frames.get(server)]

    def text(self) -> str:
        """Return it in words."""
        return (
            f"the server stored: {sum(self.frames.values())} frames of {len(self.frames)} servers, "
            f"{self.rows} increments; busiest user {self.busiest}"
        )


def look(data: Path) -> Stored:
    """Read the store in a data directory."""
    with open_store(data, read_only=True) as store:
        frames = {row["server"]: row["frames"] for row in store.query(_FRAMES).to_pylist()}
        rows = store.query(_ROWS).to_pylist()[0]["n"]
        first = next(iter(store.query(_BUSIEST).to_pylist()), None)
    busiest = f"{first['user']}, {first['share']:.0%} of all requests" if first else "nobody yet"
    return Stored(frames, rows, busiest)
