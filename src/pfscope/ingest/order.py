"""Frames in the order in which they were made, though they arrive in another, and their times.

Agents send the fresh frame first and their backlog after, and networks reorder. A frame that leaves
a gap behind it, or begins a new epoch, waits a while for older ones, as long as some still come.
What arrives after that is late, and is counted by what it alone has seen.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field

from pfscope.frames import Origin
from pfscope.ingest.clock import ServerClock, Tick
from pfscope.ingest.reading import Readable

WAIT_S = 30.0
"""How long after the latest arrival a frame is held for older ones of its server."""


@dataclass(slots=True)
class _Server:
    last: Origin | None = None
    """The latest frame that was released."""
    held: list[Readable] = field(default_factory=list)
    arrival_s: float = 0.0
    clock: ServerClock = field(default_factory=ServerClock)

    def sort(self) -> None:
        """Order the held frames: by number in an epoch, whatever the wall clock says there."""
        begins: dict[str, int] = {}
        for origin in (frame.origin for frame in self.held):
            begins[origin.epoch] = min(origin.wall_ns, begins.get(origin.epoch, origin.wall_ns))
        if self.last is not None and self.last.epoch in begins:
            begins[self.last.epoch] = 0
        self.held.sort(key=lambda f: (begins[f.origin.epoch], f.origin.epoch, f.origin.sequence))

    def passed(self, origin: Origin) -> None:
        """Take note of a frame that was released."""
        last = self.last
        if last is None or (
            origin.sequence > last.sequence
            if origin.epoch == last.epoch
            else origin.wall_ns > last.wall_ns
        ):
            self.last = origin


class Sequencer:
    """Puts frames into order, server by server."""

    def __init__(self, wait_s: float = WAIT_S) -> None:
        self._wait_s = wait_s
        self._servers: dict[str, _Server] = {}

    def held(self) -> Iterator[Readable]:
        """Yield the frames that wait."""
        for server in self._servers.values():
            yield from server.held

    def released(self) -> dict[str, tuple[Origin, ServerClock]]:
        """Return the latest frame of each server that was released, and its clock then."""
        return {name: (s.last, s.clock) for name, s in self._servers.items() if s.last}

    def resume(self, last: Origin, clock: ServerClock) -> None:
        """Go on behind a frame that was released in an earlier life."""
        self._servers[last.server] = _Server(last, clock=clock)

    def add(self, frame: Readable, now_s: float) -> None:
        """Take a frame."""
        server = self._servers.setdefault(frame.origin.server, _Server())
        server.held.append(frame)
        server.sort()
        server.arrival_s = now_s

    def ready(self, now_s: float) -> list[tuple[Readable, Tick]]:
        """Return the frames whose turn it is; by time over all servers, as targets may move."""
        by_server = [list(self._take(server, now_s)) for server in self._servers.values()]
        return list(heapq.merge(*by_server, key=lambda frame: frame[1].time_us))

    def release(self, frame: Readable, now_s: float) -> Tick:
        """Let a frame pass at once and return its time."""
        server = self._servers.setdefault(frame.origin.server, _Server())
        server.passed(frame.origin)
        return server.clock.tick(frame.origin, int(now_s * 1e6))

    def _take(self, server: _Server, now_s: float) -> Iterator[tuple[Readable, Tick]]:
        over = now_s - server.arrival_s >= self._wait_s
        while server.held and (over or _in_turn(server.last, server.held[0].origin)):
            frame = server.held.pop(0)
            yield frame, self.release(frame, now_s)


def _in_turn(last: Origin | None, origin: Origin) -> bool:
    """Tell whether nothing older can be expected. Texts and dumps have no interval and no gaps."""
    if not origin.interval_s:
        return True
    if last is None:
        return origin.sequence == 0
    return origin.epoch == last.epoch and origin.sequence <= last.sequence + 1
