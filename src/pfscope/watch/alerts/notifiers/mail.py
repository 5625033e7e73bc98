"""Mail over SMTP: plain text, in the clear only where that was asked for.

`Message-ID` is made of the notification's key: a message that comes twice is one message to whoever
files mail. All mails of a group are one thread.
"""

import smtplib
import ssl
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parseaddr
from typing import Final

from pfscope.errors import UsageError
from pfscope.untrusted import printable
from pfscope.watch.alerts.notifiers.base import DeliveryError
from pfscope.watch.alerts.notifiers.moments import moment
from pfscope.watch.alerts.notifiers.secret import Secret
from pfscope.watch.alerts.templates import Message

_PORTS: Final = {"starttls": 587, "tls": 465, "none": 25}
_LOCAL: Final = ("localhost", "127.0.0.1", "::1")
_SUBJECT: Final = 200


@dataclass(frozen=True)
class Mail:
    """`[notify.NAME] type = "mail"`."""

    to: tuple[str, ...]
    sender: str = field(metadata={"key": "from"})
    host: str = "localhost"
    port: int = 0
    """As usual for `tls` where it is not said."""
    tls: str = "starttls"
    """`starttls`, `tls` from the first byte on, or `none`."""
    user: str = ""
    password: Secret | None = None
    ca_file: str = ""
    timeout_us: int = 30_000_000

    def __post_init__(self) -> None:
        if self.tls not in _PORTS:
            raise UsageError(f"tls is {self.tls!r}; it can be {', '.join(_PORTS)}")
        for address in (self.sender, *self.to):
            if "@" not in parseaddr(address)[1] or not address.isprintable():
                raise UsageError(f"{address!r} is no address of mail")
        if not self.to:
            raise UsageError("to must name somebody")
        if bool(self.user) != (self.password is not None):
            raise UsageError("user and password_file (or password_env) go together")
        if self.user and self.tls == "none" and self.host not in _LOCAL:
            raise UsageError("a password is not sent in the clear: use starttls or tls")

    def send(self, message: Message) -> str:
        """Hand the message to the mail server."""
        mail = self.mail(message)
        try:
            refused = self._hand_over(mail)
        except smtplib.SMTPResponseException as error:
            said = error.smtp_error
            said = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
            raise DeliveryError(
                f"{self.host} answered {error.smtp_code} {printable(said)}"
            ) from None
        except (OSError, smtplib.SMTPException, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise DeliveryError(f"{self.host}: {printable(str(why))}") from None
        if refused:
            return f"{self.host} took it, but not for {', '.join(map(printable, refused))}"
        return f"{self.host} took it for {', '.join(self.to)}"

    def mail(self, message: Message) -> EmailMessage:
        """Return the message as a mail."""
        told = message.notification
        domain = parseaddr(self.sender)[1].rpartition("@")[2]
        mail = EmailMessage(policy=SMTP)
        mail["From"] = self.sender
        mail["To"] = ", ".join(self.to)
        mail["Subject"] = message.subject[:_SUBJECT]
        mail["Date"] = format_datetime(moment(told.time_us))
        mail["Message-ID"] = f"<{told.key}@{domain}>"
        if (first := f"{told.group}-0") != told.key:
            mail["In-Reply-To"] = mail["References"] = f"<{first}@{domain}>"
        mail["Auto-Submitted"] = "auto-generated"
        mail["X-Pfscope-Key"] = told.key
        mail.set_content(message.text)
        return mail

    def _hand_over(self, mail: EmailMessage) -> Collection[str]:
        """Return those for whom the server did not take it."""
        server = self._connected()
        try:
            if self.tls == "starttls":
                server.starttls(context=self._context())
            if self.user and self.password is not None:
                server.login(self.user, self.password.read())
            refused = server.send_message(mail)
            # From here on the mail is the server's: how we part changes nothing.
            with suppress(OSError, smtplib.SMTPException):
                server.quit()
            return refused
        finally:
            server.close()

    def _connected(self) -> smtplib.SMTP:
        port, seconds = self.port or _PORTS[self.tls], self.timeout_us / 1e6
        if self.tls == "tls":
            return smtplib.SMTP_SSL(self.host, port, timeout=seconds, context=self._context())
        return smtplib.SMTP(self.host, port, timeout=seconds)

    def _context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self.ca_file or None)
