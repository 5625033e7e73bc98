"""What all notifiers are: something that sends a message, or says why it could not."""

from typing import Protocol

from pfscope.errors import PfscopeError
from pfscope.watch.alerts.templates import Message


class DeliveryError(PfscopeError):
    """A message did not reach its receiver, as far as we know; it is tried again."""


class Notifier(Protocol):
    """Sends messages to one receiver."""

    def send(self, message: Message) -> str:
        """Hand a message over, and say in a few words what happened."""
