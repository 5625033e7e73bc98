"""Webhooks: the notification as JSON, signed where there is a secret to sign with.

`Idempotency-Key` is the notification's key: whoever got it before has it already. The signature is
`X-Pfscope-Signature: sha256=…`, the HMAC-SHA256 of the body in hexadecimal.
"""

import hashlib
import hmac
from dataclasses import dataclass

from pfscope.watch.alerts.documents import document
from pfscope.watch.alerts.notifiers.post import post
from pfscope.watch.alerts.notifiers.secret import Secret, revealed
from pfscope.watch.alerts.templates import Message


@dataclass(frozen=True)
class Webhook:
    """`[notify.NAME] type = "webhook"`."""

    url: Secret | str
    secret: Secret | None = None
    """Signs what is sent."""
    token: Secret | None = None
    """Goes along as `Authorization: Bearer`."""
    ca_file: str = ""
    proxy: str = ""
    timeout_us: int = 10_000_000

    def send(self, message: Message) -> str:
        """Post the notification as JSON."""
        body = document(message)
        headers = {"Idempotency-Key": message.notification.key}
        if self.secret is not None:
            headers["X-Pfscope-Signature"] = signature(self.secret.read(), body)
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token.read()}"
        url = revealed(self.url)
        return post(url, body, headers, self.timeout_us, self.ca_file, self.proxy)


def signature(secret: str, body: bytes) -> str:
    """Return what proves that the body is ours."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"
