"""Secrets: known by where they are, read when they are needed, shown nowhere."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pfscope.watch.alerts.notifiers.base import DeliveryError

_LONGEST: Final = 4096


@dataclass(frozen=True, slots=True)
class Secret:
    """The place of a secret: a file of ours that nobody else can read, or the environment."""

    file: str = ""
    variable: str = ""

    def read(self) -> str:
        """Return the secret; nothing at all is never one."""
        text = self._of_file() if self.file else os.environ.get(self.variable, "")
        if not text:
            raise DeliveryError(f"the secret in {self._place} is empty or not there")
        if not text.isprintable() or len(text) > _LONGEST:
            raise DeliveryError(f"{self._place} must hold one line of text")
        return text

    @property
    def _place(self) -> str:
        return self.file or f"${self.variable}"

    def _of_file(self) -> str:
        try:
            with Path(self.file).open("rb") as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode) or status.st_mode & 0o077:
                    raise DeliveryError(f"others can read {self.file}; chmod 600 it")
                return file.read(_LONGEST + 2).decode("utf-8").removesuffix("\n")
        except OSError as error:
            raise DeliveryError(f"{self.file}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise DeliveryError(f"{self.file} is not UTF-8 text") from None


def revealed(value: Secret | str) -> str:
    """Return what may be a secret, and may stand in the configuration as it is."""
    return value if isinstance(value, str) else value.read()
