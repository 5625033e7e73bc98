"""The agent itself: collects on the grid, appends to the spool, lets the sender know.

Every collection becomes one frame with the next sequence number of its epoch. An epoch begins with
the agent's start or the server's boot, so that no two frames ever share a name.
"""

import binascii
import os
import time
from typing import Any, Callable, Dict, List, Mapping, Tuple

import pfscope
from pfscope.agent.clock import tree_clock
from pfscope.agent.collect import Collector, Problem
from pfscope.agent.options import Settings
from pfscope.agent.say import Sayer, Tally
from pfscope.agent.schedule import Pace
from pfscope.frames import FrameBuilder, FrameLog, FramesError, Origin

_PROBLEMS_TOLD = 20


class Agent:
    """Makes one frame at a time; what it could not keep, the next frame tells."""

    def __init__(
        self,
        settings: Settings,
        collector: Collector,
        sayer: Sayer,
        tally: Tally,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.pace = Pace(settings.interval)
        self._settings = settings
        self._collector = collector
        self._sayer = sayer
        self._tally = tally
        self._clock = clock
        self._monotonic = monotonic
        self._epoch = ""
        self._sequence = 0
        self._losses: Dict[str, int] = {}

    def tick(self, log: FrameLog) -> bool:
        """Collect once and append the frame to the spool; whether that succeeded."""
        self._count_losses(log)
        counts = self._tally.counts()
        try:
            log.append(self.make_frame(counts))
        except (FramesError, OSError) as error:
            # The sequence number is used up: the gap shows, and the next frame tells why.
            self._tally.add("not spooled")
            self._sayer.once("spool", "a frame is lost: %s" % error)
            return False
        self._tally.told(counts)
        self._sayer.again("spool", "the spool takes frames again")
        return True

    def make_frame(self, dropped: Mapping[str, int]) -> bytes:
        """Collect once and return the encoded frame, which tells what was dropped before it."""
        start = self._monotonic()
        wall_ns, monotonic_ns = self._moment(start)
        builder = FrameBuilder()
        problems = self._collector.collect(builder)
        duration_s = self._monotonic() - start
        self.pace.observe(duration_s)
        epoch, sequence = self._next_name()
        origin = Origin(
            server=self._settings.server,
            epoch=epoch,
            sequence=sequence,
            wall_ns=wall_ns,
            monotonic_ns=monotonic_ns,
            interval_s=float(self._settings.interval),
            effective_interval_s=float(self.pace.effective_s),
            filesystems=self._collector.found.filesystems,
        )
        return builder.finish(origin, self._notes(problems, dropped, duration_s))

    def _moment(self, start: float) -> Tuple[int, int]:
        """Return what the frame says of when it was made."""
        simulated = None
        if self._settings.clock == "tree":
            simulated = tree_clock(self._settings.root)
        return simulated or (int(self._clock() * 1e9), int(start * 1e9))

    def _next_name(self) -> Tuple[str, int]:
        boot_id = self._collector.boot_id()
        if not self._epoch.startswith(boot_id + "."):
            self._epoch = "%s.%s" % (boot_id, binascii.hexlify(os.urandom(6)).decode())
            self._sequence = 0
        self._sequence += 1
        return self._epoch, self._sequence - 1

    def _notes(
        self, problems: List[Problem], dropped: Mapping[str, int], duration_s: float
    ) -> Dict[str, Any]:
        notes: Dict[str, Any] = {"agent": pfscope.__version__, "role": self._collector.found.role}
        if dropped:
            notes["dropped"] = dict(dropped)
        if self.pace.factor > 1:
            notes["widened"] = (
                "reading took %.1f s; collecting every %d s instead of every %d s"
                % (duration_s, self.pace.effective_s, self.pace.interval_s)
            )
        if problems:
            first = [list(problem) for problem in problems[:_PROBLEMS_TOLD]]
            notes["unreadable"] = {"count": len(problems), "first": first}
        warning = self._interval_warning()
        if warning:
            notes["warnings"] = [warning]
        return notes

    def _interval_warning(self) -> str:
        cleanup_s = self._collector.cleanup_s
        if not cleanup_s or self.pace.effective_s < cleanup_s / 2:
            self._sayer.again("interval", "the interval is short enough again")
            return ""
        warning = (
            "collecting every %d s is too seldom: Lustre forgets a job's counters %d s after its "
            "last request (job_cleanup_interval), so counts would be lost; collect more often than "
            "every %d s" % (self.pace.effective_s, cleanup_s, cleanup_s // 2)
        )
        self._sayer.once("interval", warning)
        return warning

    def _count_losses(self, log: FrameLog) -> None:
        losses = dict(log.dropped, damaged=log.damaged)
        for reason, count in losses.items():
            self._tally.add(reason, count - self._losses.get(reason, 0))
        self._losses = losses
