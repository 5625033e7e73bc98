"""Who looks: those who see the same form one audience, for which an answer is worked out once.

A row of usage is shown by name as a whole or not at all: to the user whose it is, and to staff
whose groups or projects it is of. Its job id could be anybody's invention, its user is the kernel's
word: so a row is whose its user says, and only one without a user is whose the scheduler says.
"""

# ruff: noqa: S608 - what is put together here are names of the schema; values are parameters

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pfscope.privacy.people import Role
from pfscope.privacy.settings import Privacy
from pfscope.query.keys import regex

_LATEST: Final = """(
        SELECT * FROM main.jobs
        QUALIFY row_number() OVER (PARTITION BY job ORDER BY recorded DESC) = 1
    )"""


@dataclass(frozen=True, slots=True)
class Audience:
    """What somebody sees by name."""

    everything: bool = False
    users: tuple[str, ...] = ()
    """Whose work: theirs alone."""
    groups: tuple[str, ...] = ()
    """Patterns of groups."""
    projects: tuple[str, ...] = ()

    @staticmethod
    def of(role: Role, users: Sequence[str], privacy: Privacy) -> "Audience":
        """Return the audience of somebody in a role."""
        groups, projects = privacy.staff_sees_groups, privacy.staff_sees_projects
        if role is Role.ADMIN or (role is Role.STAFF and not (groups or projects)):
            return ALL
        if role is Role.STAFF:
            return Audience(False, tuple(users), groups, projects)
        return Audience(False, tuple(users) if role is Role.USER else ())

    @property
    def sees_somebody(self) -> bool:
        """Whether anything at all is shown by name."""
        return bool(self.everything or self.users or self.groups or self.projects)

    def sees(self, user: str | None) -> bool:
        """Tell whether a user is one of the audience's own."""
        return self.everything or (user is not None and user in self.users)

    def condition(self) -> tuple[str, list[object]]:
        """Return which rows of `main.series` are shown by name, in SQL, and its parameters."""
        found: list[str] = []
        parameters: list[object] = []
        if self.users:
            own = list(self.users)
            found.append(_OWN)
            parameters += [own, own, own]
        for column, patterns in (("group", self.groups), ("project", self.projects)):
            for pattern in patterns:
                fitting = f'job IN (SELECT job FROM {_LATEST} WHERE regexp_matches("{column}", ?))'
                found.append(fitting)
                parameters.append(regex(pattern))
                if column == "group":
                    found.append('regexp_matches("group", ?)')
                    parameters.append(regex(pattern))
        return " OR ".join(f"coalesce({each}, false)" for each in found) or "false", parameters

    def of_job(self) -> tuple[str, list[object]]:
        """Return which rows of `main.jobs` are of people whom the audience sees."""
        own, found = list(self.users), ['("user" IN (SELECT unnest(?::VARCHAR[])))']
        found.append("(user_name IN (SELECT unnest(?::VARCHAR[])))")
        found.append('("user" IS NULL AND user_name IS NULL)')
        parameters: list[object] = [own, own]
        for column, patterns in (("group", self.groups), ("project", self.projects)):
            for pattern in patterns:
                found.append(f'regexp_matches("{column}", ?)')
                parameters.append(regex(pattern))
        return " OR ".join(f"coalesce({each}, false)" for each in found), parameters


ALL: Final = Audience(everything=True)
_OWN: Final = f"""("user" IN (SELECT unnest(?::VARCHAR[])) OR ("user" IS NULL AND job IN (
        SELECT job FROM {_LATEST} WHERE "user" IN (SELECT unnest(?::VARCHAR[]))
        OR user_name IN (SELECT unnest(?::VARCHAR[])))))"""
