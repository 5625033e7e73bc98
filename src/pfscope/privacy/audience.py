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

Condition = tuple[str, list[object]]
"""A condition of SQL and its parameters."""


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

    def condition(self) -> Condition:
        """Return which rows of `main.series` are shown by name."""
        found = [_fits("group", pattern) for pattern in self.groups]
        if self.users:
            scheduled = _every_record_of_a_job(_any_of(_of_users(self.users)))
            found += [_is_in("user", self.users), _both(('"user" IS NULL', []), scheduled)]
        if patterns := self._patterns():
            found.append(_every_record_of_a_job(_any_of(patterns)))
        return _any_of(found)

    def of_jobs(self) -> Condition:
        """Return of which rows of `main.jobs` an audience may know what the scheduler says."""
        nobodys = '"user" IS NULL AND user_name IS NULL'
        return _any_of([*_of_users(self.users), (nobodys, []), *self._patterns()])

    def _patterns(self) -> list[Condition]:
        groups = [_fits("group", pattern) for pattern in self.groups]
        return [*groups, *(_fits("project", pattern) for pattern in self.projects)]


ALL: Final = Audience(everything=True)


def _of_users(users: Sequence[str]) -> list[Condition]:
    return [_is_in("user", users), _is_in("user_name", users)] if users else []


def _is_in(column: str, values: Sequence[str]) -> Condition:
    return f'"{column}" IN (SELECT unnest(?::VARCHAR[]))', [list(values)]


def _fits(column: str, pattern: str) -> Condition:
    return f'regexp_matches("{column}", ?)', [regex(pattern)]


def _both(one: Condition, other: Condition) -> Condition:
    return f"({one[0]} AND {other[0]})", [*one[1], *other[1]]


def _any_of(conditions: Sequence[Condition]) -> Condition:
    """Return whether any holds; one that cannot be told does not."""
    text = " OR ".join(f"coalesce({each}, false)" for each, _ in conditions)
    return f"({text or 'false'})", [value for _, values in conditions for value in values]


def _every_record_of_a_job(condition: Condition) -> Condition:
    """Return whether all that the scheduler says of a row's job fits: ids are used again."""
    text, values = condition
    some = f"SELECT job FROM main.jobs WHERE {text}"
    every = f"SELECT job FROM main.jobs WHERE job IN ({some}) GROUP BY job HAVING bool_and({text})"
    return f"job IN ({every})", [*values, *values]
