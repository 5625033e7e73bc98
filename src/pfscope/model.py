"""The words of pfscope as small frozen types: what an entry id says, and how sound it is.

No I/O and no third party. Text that users wrote stays `bytes` under the name `Untrusted`, and
reaches a person, a file or a terminal only through `pfscope.untrusted`.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

Untrusted = NewType("Untrusted", bytes)
"""Bytes that an ordinary user can choose: job ids, executable names, node names."""


class IdClass(StrEnum):
    """How sound an entry id is, measured against the formats that the site configured."""

    SOUND = "sound"
    """A configured format, whole."""
    MISSING_JOB = "missing-job"
    """A configured format whose job is empty; everything else is there."""
    QUALIFIED_HOST = "qualified-host"
    """A configured format with a domain behind the host that should be short."""
    TRUNCATED = "truncated"
    """The beginning of a configured format: the fields before the last separator are whole."""
    MALFORMED = "malformed"
    """The remains of a configured format; at most the end of it can be trusted."""
    FOREIGN = "foreign"
    """Something that no configured format could have produced."""
    BLANK = "blank"
    """Nothing at all."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What an entry id says, as far as it can be trusted: a field that is None names nothing."""

    id_class: IdClass
    job: Untrusted | None = None
    array_job: Untrusted | None = None
    array_task: Untrusted | None = None
    user: Untrusted | None = None
    group: Untrusted | None = None
    node: Untrusted | None = None
    executable: Untrusted | None = None
    process: Untrusted | None = None
    host_qualified: bool = False
    system: bool = False


@dataclass(frozen=True, slots=True)
class Defect:
    """A stretch of input that could not be read: where it begins, and why."""

    offset: int
    reason: str
