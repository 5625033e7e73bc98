"""A command of the site: the message on its standard input, never through a shell, never for ever.

It gets `PFSCOPE_KEY`, `PFSCOPE_GROUP`, `PFSCOPE_KIND` and `PFSCOPE_SEVERITY`, of our environment
only what programs need to run, and no text that users wrote in its arguments. Exit code 0 means
delivered. What it started is ended with it when its time is over.
"""

import os
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Final

from pfscope.errors import UsageError
from pfscope.untrusted import printable
from pfscope.watch.alerts.documents import document
from pfscope.watch.alerts.notifiers.base import DeliveryError
from pfscope.watch.alerts.templates import Message

_PASSED: Final = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR")
_TOLD: Final = 200


@dataclass(frozen=True)
class Command:
    """`[notify.NAME] type = "command"`."""

    argv: tuple[str, ...]
    """The program and its arguments, as they are."""
    input: str = "text"
    """What it reads: `text` or `json`."""
    timeout_us: int = 30_000_000

    def __post_init__(self) -> None:
        if not self.argv or not all(self.argv):
            raise UsageError("argv must name a program")
        if self.input not in ("text", "json"):
            raise UsageError(f"input is {self.input!r}; it can be text or json")

    def send(self, message: Message) -> str:
        """Run it, and wait for its end."""
        told = message.notification
        given = {name: os.environ[name] for name in _PASSED if name in os.environ}
        given |= {"PFSCOPE_KEY": told.key, "PFSCOPE_GROUP": told.group,
                  "PFSCOPE_KIND": told.kind.value, "PFSCOPE_SEVERITY": told.severity}  # fmt: skip
        words = f"{message.subject}\n\n{message.text}".encode()
        with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as words_file:
            words_file.write(document(message) if self.input == "json" else words)
            words_file.seek(0)
            code = self._run(given, words_file.fileno(), errors.fileno())
            errors.seek(0)
            said = printable(errors.read(_TOLD).decode("utf-8", "replace").split("\n")[0])
        if code:
            raise DeliveryError(f"{self.argv[0]} ended with {code}: {said}".rstrip(": "))
        return f"{self.argv[0]} ended with 0"

    def _run(self, environment: dict[str, str], words: int, errors: int) -> int:
        """Return the exit code."""
        try:
            process = subprocess.Popen(  # noqa: S603 - the site's own command, and no shell
                self.argv, stdin=words, stdout=subprocess.DEVNULL, stderr=errors,
                env=environment, start_new_session=True,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise DeliveryError(f"{self.argv[0]}: {why}") from None
        try:
            return process.wait(self.timeout_us / 1e6)
        except subprocess.TimeoutExpired:
            seconds = self.timeout_us / 1e6
            raise DeliveryError(f"{self.argv[0]} did not end within {seconds:g} s") from None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
