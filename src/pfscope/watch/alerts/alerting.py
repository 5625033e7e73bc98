"""Alerts of one data directory: asks thresholds, advances the states, keeps them, sends.

What is to be sent is on disk before it leaves, and leaves the disk when the receiver has it: after
a crash it is sent again under the same key, and nothing else is told twice. Each channel sends in
a thread of its own, so that one that is slow holds back no other. A disk that is full keeps nobody
from being told.
"""

import fcntl
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from pfscope.errors import InputError
from pfscope.query.data import Data
from pfscope.untrusted import printable
from pfscope.watch.alerts.delivery import Delivery, Outbox
from pfscope.watch.alerts.engine import Engine
from pfscope.watch.alerts.facts import on_incidents
from pfscope.watch.alerts.listing import FOLDER
from pfscope.watch.alerts.model import Notification
from pfscope.watch.alerts.notifiers.base import DeliveryError
from pfscope.watch.alerts.rules import Rule, Threshold
from pfscope.watch.alerts.settings import Channel
from pfscope.watch.alerts.silences import SilenceFile
from pfscope.watch.alerts.state_file import WATCHED, StateFile
from pfscope.watch.alerts.templates import render
from pfscope.watch.alerts.thresholds import Asked, ask
from pfscope.watch.model import Incident

_ENDING_S: Final = 5.0
_LONGEST_WAIT_S: Final = 60.0
log = logging.getLogger("pfscope.alerts")


def wall_clock_us() -> int:
    """Return the time."""
    return time.time_ns() // 1000


class Alerting:
    """The one writer of `DIR/alerts`."""

    def __init__(
        self,
        directory: Path,
        rules: Iterable[Rule],
        channels: Mapping[str, Channel],
        clock: Callable[[], int] = wall_clock_us,
    ) -> None:
        self._folder = directory / FOLDER
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._clock = clock
        self._channels = dict(channels)
        self._file = StateFile(self._folder)
        self.silences = SilenceFile(self._folder, log.warning)
        self._changed = threading.Condition()
        self._ending = False
        self._asked_us: dict[str, int] = {}
        self.trouble: dict[str, str] = {}
        """Why parts do not do their work, by `rule NAME`, `notify NAME` or `disk`."""
        self.watched_us = 0
        """The time of the newest observation that was taken note of."""
        self._lock = _locked(self._folder)
        self._rules = list(rules)
        try:
            self._engine, self._outbox = self._restored()
        except InputError:
            os.close(self._lock)
            raise
        self._threads: list[threading.Thread] = []

    @property
    def waiting(self) -> int:
        """How many deliveries have not arrived yet."""
        with self._changed:
            return len(self._outbox)

    def start(self) -> None:
        """Send from now on, in threads."""
        for name in self._channels:
            thread = threading.Thread(target=self._run, args=(name,), name=f"notify-{name}")
            thread.daemon = True  # one that waits for a receiver keeps nobody from ending
            thread.start()
            self._threads.append(thread)

    def close(self) -> None:
        """End; what is not sent yet is sent after the next start."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(_ENDING_S)
        with self._changed:
            self._save()
        os.close(self._lock)

    def advance(
        self,
        incidents: Iterable[Incident] = (),
        *,
        whole: bool = False,
        data: Data | None = None,
        now_us: int | None = None,
        at_us: int | None = None,
    ) -> list[Notification]:
        """Take note of incidents, ask thresholds that are due, and let all states go on.

        Incidents may come again and again; `whole` says that there are no others that go on.
        `at_us` is the time of what was observed, by which states go where it is not now.
        """
        now_us = self._clock() if now_us is None else now_us
        observations = on_incidents(self._rules, incidents, whole=whole)
        answers = {} if data is None else self._thresholds(data, now_us)
        observations += [seen for answer in answers.values() for seen in answer.observations]
        with self._changed:
            for name, answer in answers.items():
                self._note(f"rule {name}", answer.trouble)
            self.watched_us = max(self.watched_us, at_us or 0)
            due = self._engine.advance(now_us, observations, self.silences.current(), at_us)
            for notification in due:
                self._outbox.add(notification, now_us)
            self._note_overflow()
            self._save()
            self._changed.notify_all()
        return due

    def deliver(self) -> int:
        """Send all that is due now, one after the other; return how many arrived."""
        arrived = 0
        for name in self._channels:
            while delivery := self._due(name)[0]:
                arrived += self._send(delivery)
        return arrived

    def _thresholds(self, data: Data, now_us: int) -> dict[str, Asked]:
        """Ask what is due, and return the answers by rule."""
        found: dict[str, Asked] = {}
        for rule in self._rules:
            if not isinstance(rule.on, Threshold):
                continue
            last_us = self._asked_us.get(rule.name)
            if last_us is not None and 0 <= now_us - last_us < rule.on.every_us:
                continue
            self._asked_us[rule.name] = now_us
            found[rule.name] = ask(rule, data, now_us)
        return found

    def _run(self, name: str) -> None:
        """Send for one channel until the end."""
        while True:
            with self._changed:
                delivery, soonest_us = self._outbox.next_due(name, self._clock())
                if self._ending:
                    return
                if delivery is None:
                    self._changed.wait(self._pause_s(soonest_us))
                    continue
            self._send(delivery)

    def _pause_s(self, until_us: int | None) -> float:
        """Return how long nothing needs to be done; clocks jump, so never for long."""
        if until_us is None:
            return _LONGEST_WAIT_S
        return min(max((until_us - self._clock()) / 1e6, 0.01), _LONGEST_WAIT_S)

    def _due(self, name: str) -> tuple[Delivery | None, int | None]:
        with self._changed:
            return self._outbox.next_due(name, self._clock())

    def _send(self, delivery: Delivery) -> bool:
        """Try once to hand something over."""
        channel = self._channels[delivery.channel]
        try:
            said = channel.notifier.send(render(delivery.notification, channel.templates))
        except DeliveryError as error:
            return self._not_sent(delivery, str(error))
        except Exception as error:  # whatever is wrong with one, the next one is sent
            log.exception("notify %s", delivery.channel)
            return self._not_sent(delivery, f"a fault of pfscope: {type(error).__name__}")
        log.info("notify %s: %s, %s", delivery.channel, delivery.notification.key, said)
        with self._changed:
            self._outbox.sent(delivery)
            self._note(f"notify {delivery.channel}", "")
            self._save()
        return True

    def _not_sent(self, delivery: Delivery, why: str) -> bool:
        with self._changed:
            again = self._outbox.failed(delivery, why, self._clock())
            given_up = "" if again else "; given up"
            self._note(f"notify {delivery.channel}", f"{why}{given_up}")
            self._save()
        return False

    def _note(self, part: str, why: str) -> None:
        """Keep in mind what is wrong; the log says it when it begins and ends."""
        why = printable(why)
        before = self.trouble.get(part, "")
        if why:
            self.trouble[part] = why
        else:
            self.trouble.pop(part, None)
        if why and why != before:
            log.warning("%s: %s", part, why)
        elif before and not why:
            log.info("%s: works again", part)

    def _note_overflow(self) -> None:
        for rule in self._rules:
            if more := self._engine.overflow[rule.name]:
                self._note(f"alerts of {rule.name}", f"{more} more than can be told")
            else:
                self._note(f"alerts of {rule.name}", "")

    def _save(self) -> None:
        """Make all that is known safe."""
        try:
            self._file.write({
                "engine": self._engine.state(),
                "outbox": [delivery.as_json() for delivery in self._outbox],
                "muted": self._engine.muted,
                "trouble": self.trouble,
                WATCHED: self.watched_us,
            })  # fmt: skip
        except OSError as error:
            self._note("disk", str(error))
        else:
            self._note("disk", "")

    def _restored(self) -> tuple[Engine, Outbox]:
        """Take up where the last run ended, as far as it is known."""
        try:
            plain = self._file.read()
            if plain is None:
                return Engine(self._rules), Outbox()
            engine = Engine(self._rules, plain["engine"])
            outbox = Outbox(map(Delivery.from_json, plain["outbox"]))
            self.watched_us = int(plain.get(WATCHED, 0))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            aside = self._file.set_aside()
            log.warning("alerts begin anew, the damaged state is kept as %s: %s", aside, error)
            return Engine(self._rules), Outbox()
        for delivery in outbox.drop_unknown(self._channels):
            log.warning("there is no [notify.%s] any more: %s is dropped", *delivery.key)
        return engine, outbox


def _locked(folder: Path) -> int:
    """Be the only one here; another is an `InputError`."""
    descriptor = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise InputError(f"another process sends the alerts of {folder}") from None
    return descriptor
