"""What a site says about privacy: the `[privacy]` table of its configuration.

A site that has the table, or a token of anybody, is not open: nobody is admin for being local.
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from pfscope.errors import UsageError
from pfscope.watch.alerts.fields import read_table, texts

NOTHING: Final = "nothing"
PSEUDONYMS: Final = "pseudonyms"
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}")
_TAKEN: Final = ("authorization", "cookie", "host", "origin", "x-csrf-token")


@dataclass(frozen=True)
class Written:
    """The keys of the table that stand for themselves."""

    anonymous: str = NOTHING
    """What those see who are not signed in: `nothing`, or `pseudonyms`."""
    admins: tuple[str, ...] = ()
    """Who is admin when a proxy or the socket says the name."""
    admin_groups: tuple[str, ...] = ()
    """The Unix groups whose members are."""
    staff: tuple[str, ...] = ()
    """Who is staff then."""
    staff_groups: tuple[str, ...] = ()
    staff_sees_groups: tuple[str, ...] = ()
    """Patterns: the groups whose work staff see by name."""
    staff_sees_projects: tuple[str, ...] = ()
    """The projects; with neither of both, staff see all names."""
    proxy_header: str = ""
    """The header in which a proxy says who has signed in there."""
    proxy_from: tuple[str, ...] = ("127.0.0.1", "::1")
    """The addresses from which that is believed."""
    hosts: tuple[str, ...] = ()
    """The names by which the server may be called, beside the machine's own; none: any."""
    look_up: bool = True
    """Whether the machine's accounts tell the uid of a name, and its groups."""
    root_is_admin: bool = True
    """Whether root, and whoever runs the server, are admins through the socket."""
    session_us: int = 12 * 3600 * 10**6
    """So long one stays signed in."""

    def __post_init__(self) -> None:
        if self.anonymous not in (NOTHING, PSEUDONYMS):
            raise UsageError(f"anonymous can be {NOTHING} or {PSEUDONYMS}")
        header = self.proxy_header
        if header and (not _HEADER.fullmatch(header) or header.lower() in _TAKEN):
            raise UsageError(f"proxy_header {header!r} is no name of a header for that")
        for address in self.proxy_from:
            try:
                ipaddress.ip_address(address)
            except ValueError:
                told = f"proxy_from {address!r} is no address, such as 127.0.0.1"
                raise UsageError(told) from None


@dataclass(frozen=True)
class Privacy(Written):
    """Who is who, and what those see who are not signed in."""

    users: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The users of the file system that a name stands for, where it is not the account's uid."""
    given: bool = False
    """Whether the site says anything about it."""


def read_privacy(table: Any, where: str) -> Privacy:
    """Read the table; mistakes are told with the place."""
    if table == {}:
        return Privacy()
    plain = {k: v for k, v in table.items() if k != "users"} if isinstance(table, dict) else table
    written = read_table(Written, plain, where)
    users = table.get("users", {})
    if not isinstance(users, dict):
        raise UsageError(f'{where}: users must be a table, such as {{anna = ["1001"]}}')
    named = {name: texts(value, f"{where}: users.{name}") for name, value in users.items()}
    return Privacy(**asdict(written), users=named, given=True)
