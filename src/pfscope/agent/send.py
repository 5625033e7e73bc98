"""Sends what the spool holds, in the background: the fresh frame first, then the backlog.

Frames leave the spool only when the server names them as `stored`, `duplicate` or `rejected`; in
every other case they stay and are sent again, later and later, with some randomness so that a
recovering server is not met by all agents at once.
"""

import json
import os
import threading
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from pfscope.agent.post import Reply, SendError
from pfscope.agent.say import Sayer, Tally
from pfscope.frames import FrameError, FrameLog, Position, decode

BATCH_BYTES = 1 << 20
BATCH_FRAMES = 64
_FIRST_DELAY_S = 1.0
_LONGEST_DELAY_S = 300.0
_LONGEST_RETRY_AFTER_S = 3600.0
_ACKNOWLEDGED = ("stored", "duplicate", "rejected")
_NOT_ALLOWED = "not-allowed"
"""A rejection that ends when somebody corrects the token's servers: such frames are kept."""

Key = Tuple[str, str, int]


class Batch(NamedTuple):
    """Frames on their way: the bytes, and where each one is kept."""

    body: bytes
    frames: Dict[Key, Position]


def some_randomness() -> float:
    """Return a number from 0 up to 1."""
    return int.from_bytes(os.urandom(4), "big") / (1 << 32)


class Sender:
    """Decides what to send and when; the network is behind `post`."""

    def __init__(
        self,
        log: FrameLog,
        post: Callable[[bytes], Reply],
        rate_bytes_per_s: float,
        sayer: Sayer,
        tally: Tally,
        monotonic: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = some_randomness,
    ) -> None:
        self._log = log
        self._post = post
        self._rate = rate_bytes_per_s
        self._sayer = sayer
        self._tally = tally
        self._monotonic = monotonic
        self._chance = chance
        self._failures = 0
        self._not_before = 0.0

    @property
    def failing(self) -> bool:
        """Whether the last attempt did not deliver everything it carried."""
        return self._failures > 0

    def step(self) -> float:
        """Send one batch if it is time, and return in how many seconds to come back.

        The answer is infinite when nothing is left to send.
        """
        now = self._monotonic()
        if now < self._not_before:
            return self._not_before - now
        try:
            batch = self._next_batch()
            if not batch.frames:
                return 0.0 if len(self._log) else float("inf")
            self._not_before = now + len(batch.body) / self._rate
            self._deliver(batch)
        except (SendError, OSError) as error:
            self._fail(str(error), 0.0)
        return max(0.0, self._not_before - self._monotonic())

    def _next_batch(self) -> Batch:
        """Return the newest frame and as many of the oldest as fit; after a failure it alone."""
        limit = 1 if self._failures else BATCH_FRAMES
        wanted = self._log.pending(newest_first=True, limit=1) + self._log.pending(limit=limit - 1)
        frames: Dict[Key, Position] = {}
        parts: List[bytes] = []
        size = 0
        for position in dict.fromkeys(wanted):
            if parts and size + position.length > BATCH_BYTES:
                break
            try:
                encoded = self._log.read(position)
            except FrameError:
                continue  # counted by the log, and not pending any more
            parts.append(encoded)
            frames[decode(encoded).key] = position
            size += position.length
        return Batch(b"".join(parts), frames)

    def _deliver(self, batch: Batch) -> None:
        reply = self._post(batch.body)
        if reply.status == 413 and len(batch.frames) == 1:
            verdicts = dict.fromkeys(batch.frames, ("rejected", "too large"))
        elif reply.status != 200:
            self._fail(_status_text(reply.status), reply.retry_after_s)
            return
        else:
            verdicts = read_verdicts(reply.body)
        self._apply(batch, verdicts, reply.retry_after_s)

    def _apply(
        self, batch: Batch, verdicts: Dict[Key, Tuple[str, str]], retry_after_s: float
    ) -> None:
        known = {
            key: verdicts[key]
            for key in batch.frames
            if key in verdicts and not verdicts[key][1].startswith(_NOT_ALLOWED)
        }
        for key, (status, reason) in known.items():
            if status == "rejected":
                self._tally.add("rejected")
                self._sayer.once("rejected", "the server rejected frame %d: %s" % (key[2], reason))
        done = [key for key, verdict in known.items() if verdict[0] in _ACKNOWLEDGED]
        self._log.acknowledge([batch.frames[key] for key in done])
        if len(done) < len(batch.frames):
            self._fail(_why_later(verdicts), retry_after_s)
            return
        if self._failures:
            self._sayer.again("sending", "sending works again")
        self._failures = 0

    def _fail(self, reason: str, retry_after_s: float) -> None:
        self._failures += 1
        longest = min(_LONGEST_DELAY_S, _FIRST_DELAY_S * 2 ** min(self._failures - 1, 16))
        delay = longest * (0.5 + 0.5 * self._chance())
        delay = max(delay, min(retry_after_s, _LONGEST_RETRY_AFTER_S) + delay * bool(retry_after_s))
        self._not_before = max(self._not_before, self._monotonic() + delay)
        self._sayer.once("sending", "cannot send: %s; frames are kept and sent later" % reason)


def _why_later(verdicts: Dict[Key, Tuple[str, str]]) -> str:
    if any(reason.startswith(_NOT_ALLOWED) for _status, reason in verdicts.values()):
        return "the token may not speak for this server"
    return "the server wants some frames again later"


def read_verdicts(body: bytes) -> Dict[Key, Tuple[str, str]]:
    """Return status and reason for each frame that a reply names; rubbish is a `SendError`."""
    try:
        items = json.loads(body.decode("utf-8"))["frames"]
        return {_key(item): (str(item["status"]), str(item.get("reason", ""))) for item in items}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise SendError("the answer is not what a pfscope server says") from None


def _key(item: Any) -> Key:
    return str(item["server"]), str(item["epoch"]), int(item["sequence"])


def _status_text(status: int) -> str:
    if status in (401, 403):
        return "the server does not accept the token (status %d)" % status
    if 300 <= status < 400:
        return "the server points elsewhere (status %d); correct the url" % status
    return "the server answered with status %d" % status


class SenderThread:
    """Runs a sender beside the collecting, so that a slow network never delays a sample."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self._wake = threading.Event()
        self._ending = False
        self._bug: Optional[Exception] = None
        self._thread = threading.Thread(target=self._run, name="sender", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def wake(self) -> None:
        """Tell that there is a new frame; a bug that ended the sending is raised here."""
        if self._bug is not None:
            raise self._bug
        self._wake.set()

    def end(self, patience_s: float) -> None:
        """Ask to end and wait a little; an exchange under way is abandoned after that."""
        self._ending = True
        self._wake.set()
        self._thread.join(patience_s)

    def _run(self) -> None:
        try:
            while not self._ending:
                delay = self._sender.step()
                self._wake.wait(None if delay == float("inf") else delay)
                self._wake.clear()
        except Exception as error:  # noqa: BLE001 - it must end the agent, not this thread alone
            self._bug = error
