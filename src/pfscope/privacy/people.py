"""People: what a name may do, and which users of the file system it stands for.

The records name users as the ids of Lustre do, by number or by name. A name that is all digits is
never taken for a number: somebody else's uid could be called like it.
"""

import grp
import os
import pwd
import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from pfscope.privacy.settings import Privacy

NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@-]{0,63}")
"""What names of people look like, as a proxy may say them."""


class Role(StrEnum):
    """What somebody may do; those further down may do less."""

    ADMIN = "admin"
    STAFF = "staff"
    USER = "user"
    ANONYMOUS = "anonymous"


def role_of(name: str, privacy: Privacy) -> Role:
    """Return the role of a name that a proxy or the socket said."""
    if name in privacy.admins or _in_any(name, privacy.admin_groups, privacy):
        return Role.ADMIN
    if name in privacy.staff or _in_any(name, privacy.staff_groups, privacy):
        return Role.STAFF
    return Role.USER


def users_of(name: str, privacy: Privacy) -> tuple[str, ...]:
    """Return the users of the file system that somebody is, as its records name them.

    >>> users_of("anna", Privacy(look_up=False))
    ('anna',)
    >>> users_of("anna", Privacy(look_up=False, users={"anna": ("1001", "anna")}))
    ('1001', 'anna')
    >>> users_of("1001", Privacy(look_up=False))
    ()
    """
    if name in privacy.users:
        return privacy.users[name]
    found = [] if name.isdecimal() else [name]
    account = _account(name) if privacy.look_up else None
    if account is not None:
        found.append(str(account.pw_uid))
    return tuple(found)


def name_of_uid(uid: int) -> str:
    """Return the name of an account, or its number where it has none.

    >>> name_of_uid(0), name_of_uid(4_000_000_000)
    ('root', '4000000000')
    """
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _account(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except (KeyError, ValueError):
        return None


def _in_any(name: str, groups: Iterable[str], privacy: Privacy) -> bool:
    """Tell whether an account is a member of any of these groups."""
    wanted = set(groups)
    account = _account(name) if wanted and privacy.look_up else None
    if account is None:
        return False
    return any(_group_name(gid) in wanted for gid in os.getgrouplist(name, account.pw_gid))


def _group_name(gid: int) -> str | None:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return None
