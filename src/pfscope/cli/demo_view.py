"""How the demo shows frames: a live picture on a terminal, one line for each frame elsewhere.

Names come from entry ids, which users write: they leave through `ascii_text` alone.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol, Self, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from pfscope.cli.incident_page import incident_text
from pfscope.lab.spectator import Seen
from pfscope.model import Untrusted
from pfscope.untrusted import ascii_text

Rates = Counter[Untrusted]
TOP = 5
TOP_IN_A_LINE = 3


class View(Protocol):
    """Something that shows frames while the demo runs."""

    def __enter__(self) -> Self:
        """Begin to show."""

    def __exit__(self, *_exception: object) -> None:
        """Stop showing; what was shown stays."""

    def frame(self, seen: Seen) -> None:
        """Show one more frame."""

    def incident(self, told: Mapping[str, Any]) -> None:
        """Show an incident as it is now."""


def make_view(out: TextIO = sys.stdout) -> View:
    """Return the view that suits the output."""
    return LiveView(Console(file=out)) if out.isatty() else PlainView(out)


def rates(counts: Rates, seconds: float) -> dict[Untrusted, float]:
    """Return requests per second, the busiest first; nothing where no time has passed."""
    if seconds <= 0:
        return {}
    return {who: count / seconds for who, count in counts.most_common(TOP)}


class PlainView:
    """One line for each frame."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._out.flush()

    def frame(self, seen: Seen) -> None:
        """Print what the frame held."""
        line = f"{_clock(seen)} {seen.server} frame {seen.sequence}: {entries_text(seen)}"
        if seen.seconds > 0:
            line += f"; {seen.requests / seen.seconds:.0f} requests/s"
            line += f"; users {_listed(rates(seen.users, seen.seconds))}"
            line += f"; jobs {_listed(rates(seen.jobs, seen.seconds))}"
        print(line, file=self._out, flush=True)

    def incident(self, told: Mapping[str, Any]) -> None:
        """Print it."""
        print(f"\n{incident_text(told)}", file=self._out, flush=True)


class LiveView:
    """The last frame of each server, and the busiest users and jobs of all servers together."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, auto_refresh=False)
        self._last: dict[str, Seen] = {}
        self._incident = Text("no incident yet", style="dim")

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._live.stop()

    def frame(self, seen: Seen) -> None:
        """Redraw with this frame as the last one of its server."""
        self._last[seen.server] = seen
        self._live.update(self.picture(), refresh=True)

    def incident(self, told: Mapping[str, Any]) -> None:
        """Show it above everything else, until there is another."""
        self._incident = Text(incident_text(told).rstrip(), overflow="ellipsis")
        self._live.update(self.picture(), refresh=True)

    def picture(self) -> Group:
        """Return what is on the screen."""
        last = sorted(self._last.values(), key=lambda seen: seen.server)
        users, jobs = (
            together(rates(getattr(seen, who), seen.seconds) for seen in last)
            for who in ("users", "jobs")
        )
        return Group(
            self._incident,
            Text(),
            _servers(last),
            Text(),
            _busiest("user", users),
            Text(),
            _busiest("job", jobs),
        )


def together(parts: Iterable[Mapping[Untrusted, float]]) -> dict[Untrusted, float]:
    """Add up what one user or job causes on several servers; the busiest first."""
    total: dict[Untrusted, float] = {}
    for part in parts:
        for who, rate in part.items():
            total[who] = total.get(who, 0.0) + rate
    return dict(sorted(total.items(), key=lambda item: -item[1])[:TOP])


def _servers(last: list[Seen]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("server", "time"):
        table.add_column(name)
    for name in ("frame", "KiB", "requests/s"):
        table.add_column(name, justify="right")
    table.add_column("entries")
    for seen in last:
        rate = f"{seen.requests / seen.seconds:.0f}" if seen.seconds > 0 else ""
        table.add_row(
            Text(ascii_text(seen.server.encode())), _clock(seen), str(seen.sequence),
            str(seen.raw_bytes >> 10), rate, entries_text(seen),
        )  # fmt: skip
    return table


def _busiest(what: str, found: Mapping[Untrusted, float]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(f"busiest {what}", min_width=16)
    table.add_column("requests/s", justify="right")
    for who, rate in found.items():
        table.add_row(Text(ascii_text(who)), f"{rate:.0f}")
    return table


def entries_text(seen: Seen) -> str:
    """Return how many entries there are, and how many of each class."""
    classes = ", ".join(f"{name} {count}" for name, count in seen.classes.most_common())
    return f"{seen.entries} entries ({classes})" if classes else "no entries"


def _listed(found: Mapping[Untrusted, float]) -> str:
    busiest = list(found.items())[:TOP_IN_A_LINE]
    return ", ".join(f"{ascii_text(who)} {rate:.0f}/s" for who, rate in busiest) or "none"


def _clock(seen: Seen) -> str:
    return datetime.fromtimestamp(seen.wall_ns / 10**9, UTC).strftime("%H:%M:%S")
