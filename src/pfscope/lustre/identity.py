"""From an entry id to job, user, group, node and executable: as much of it as can be trusted.

Ids are judged against the formats that the site configured. Lustre cuts ids at 31 bytes, and a race
in its clients (fixed in 2.16) mangles them: a field is believed when what closes it is there too.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from pfscope.lustre.jobid_format import SLURM_JOB, JobidFormat, compile_format
from pfscope.model import IdClass, Identity, Untrusted

DEFAULT_FORMATS: Final = ("%j:%u:%H", "%e.%u")
ID_BYTES: Final = 31
"""An id of this length may have lost its end."""
SYSTEM_UID_BELOW: Final = 1000
_CACHED: Final = 1 << 18
_ARRAY_TASK: Final = re.compile(rb"(.+)_([0-9]+)")
_SOUNDNESS: Final = list(IdClass)


class Identifier:
    """Reads the entry ids of one file system."""

    def __init__(
        self,
        formats: Sequence[str] = DEFAULT_FORMATS,
        *,
        job_pattern: str = SLURM_JOB,
        system_uid_below: int = SYSTEM_UID_BELOW,
        system_users: Sequence[str] = (),
    ) -> None:
        self._formats = [compile_format(text, job_pattern) for text in formats]
        self._system_uid_below = system_uid_below
        self._system_users = frozenset(user.encode() for user in system_users)
        self.identify = lru_cache(_CACHED)(self._identify)
        """Read one raw id; ids repeat, so the answers are kept."""

    def _identify(self, raw: bytes) -> Identity:
        if not raw.strip():
            return Identity(IdClass.BLANK)
        whole = [w for f in self._formats if (w := self._whole(f, raw))]
        if whole:
            return min(whole, key=lambda identity: _SOUNDNESS.index(identity.id_class))
        return (
            self._first("beginnings", IdClass.TRUNCATED, raw)
            or self._first("ends", IdClass.MALFORMED, raw)
            or Identity(IdClass.MALFORMED if self._remains(raw) else IdClass.FOREIGN)
        )

    def _whole(self, form: JobidFormat, raw: bytes) -> Identity | None:
        match = form.whole.fullmatch(raw)
        if match is None:
            return None
        fields = match.groupdict()
        id_class = IdClass.SOUND
        if fields.get("domain"):
            id_class = IdClass.QUALIFIED_HOST
        elif len(raw) == ID_BYTES and form.open_end:
            id_class = IdClass.TRUNCATED
            fields[form.open_end] = None
        if form.has_job and "%j?%H" not in form.text and not fields["job"]:
            id_class = IdClass.MISSING_JOB
        return self._identity(id_class, fields)

    def _first(self, readings: str, id_class: IdClass, raw: bytes) -> Identity | None:
        """Return the reading that trusts most fields, if any trusts one."""
        found = [
            fields
            for form in self._formats
            for pattern in getattr(form, readings)
            if (match := pattern.fullmatch(raw)) and any((fields := match.groupdict()).values())
        ]
        if not found:
            return None
        return self._identity(id_class, max(found, key=lambda f: sum(map(bool, f.values()))))

    def _remains(self, raw: bytes) -> bool:
        return any(pattern.fullmatch(raw) for form in self._formats for pattern in form.remains)

    def _identity(self, id_class: IdClass, fields: dict[str, bytes | None]) -> Identity:
        found = {name: Untrusted(value) for name, value in fields.items() if value}
        qualified = found.pop("domain", None) is not None
        user = found.get("user", Untrusted(b""))
        task = _ARRAY_TASK.fullmatch(found.get("job", b""))
        return Identity(
            id_class,
            **found,
            array_job=Untrusted(task[1]) if task else None,
            array_task=Untrusted(task[2]) if task else None,
            host_qualified=qualified,
            system=(user.isdigit() and int(user) < self._system_uid_below)
            or user in self._system_users,
        )
