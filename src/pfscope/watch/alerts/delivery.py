"""The outbox: what is to be sent to whom, kept until the receiver has it; tried again, ever later.

One delivery is one notification for one channel. Those of a group leave in order. A delivery that
waits is replaced by a later update of its group, so that nobody gets old news by the dozen.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pfscope.watch.alerts.model import Kind, Notification
from pfscope.watch.alerts.rules import HOUR_US

_FIRST_PAUSE_US: Final = 5_000_000
_LONGEST_PAUSE_US: Final = 900_000_000
GIVE_UP_US: Final = 72 * HOUR_US
"""What could not be sent for so long is news no more."""
_REPLACED: Final = (Kind.UPDATE, Kind.REPEAT)


@dataclass(frozen=True, slots=True)
class Delivery:
    """One notification on its way to one channel."""

    channel: str
    notification: Notification
    due_us: int
    attempts: int = 0
    error: str = ""
    """Why the last attempt failed."""

    @property
    def key(self) -> tuple[str, str]:
        """What it is known by."""
        return self.channel, self.notification.key

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return plain | {"notification": self.notification.as_json()}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Delivery":
        """Undo `as_json`."""
        return cls(**{**plain, "notification": Notification.from_json(plain["notification"])})


class Outbox:
    """Deliveries in the order in which they were made; whoever uses it has a lock around it."""

    def __init__(self, deliveries: Iterable[Delivery] = ()) -> None:
        self._waiting = {delivery.key: delivery for delivery in deliveries}

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Delivery]:
        return iter(list(self._waiting.values()))

    def add(self, notification: Notification, now_us: int) -> None:
        """Take up a notification for all whom it is for."""
        for channel in notification.notify:
            for key, old in list(self._waiting.items()):
                same = old.channel == channel and old.notification.group == notification.group
                if same and old.notification.kind in _REPLACED:
                    del self._waiting[key]
            delivery = Delivery(channel, notification, now_us)
            self._waiting[delivery.key] = delivery

    def next_due(self, channel: str, now_us: int) -> tuple[Delivery | None, int | None]:
        """Return what a channel may send now, or else when there will be something."""
        groups: set[str] = set()
        soonest: int | None = None
        for delivery in self._waiting.values():
            if delivery.channel != channel or delivery.notification.group in groups:
                continue
            groups.add(delivery.notification.group)
            if delivery.due_us <= now_us:
                return delivery, None
            soonest = min(delivery.due_us, soonest or delivery.due_us)
        return None, soonest

    def sent(self, delivery: Delivery) -> None:
        """Forget what has arrived."""
        self._waiting.pop(delivery.key, None)

    def failed(self, delivery: Delivery, error: str, now_us: int) -> Delivery | None:
        """Try again later; None: it is given up."""
        if now_us - delivery.notification.time_us > GIVE_UP_US:
            self.sent(delivery)
            return None
        pause_us = min(_FIRST_PAUSE_US * 2 ** min(delivery.attempts, 20), _LONGEST_PAUSE_US)
        again = replace(
            delivery, attempts=delivery.attempts + 1, error=error, due_us=now_us + pause_us
        )
        if delivery.key in self._waiting:
            self._waiting[delivery.key] = again
        return again

    def drop_unknown(self, channels: Iterable[str]) -> list[Delivery]:
        """Forget, and return, what is for channels that are there no more."""
        known = set(channels)
        gone = [delivery for delivery in self._waiting.values() if delivery.channel not in known]
        for delivery in gone:
            self.sent(delivery)
        return gone
