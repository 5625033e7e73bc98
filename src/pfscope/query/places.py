"""Tables that know of targets and nobody else: the words that such a question takes.

What else could be asked for, a user or a job, they cannot tell apart; it is refused, not ignored.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import ibis
import ibis.expr.types as ir

from pfscope.errors import UsageError
from pfscope.query.asked import Asked
from pfscope.query.keys import matches

PLACES: Final = ("filesystem", "server", "target", "kind")
_NAME: Final = "-(MDT|OST)[0-9a-fA-F]{4}(_UUID)?$"


def refuse_all_but(asked: Asked, by: Sequence[str], where: Sequence[str]) -> None:
    """Refuse keys to group by and to filter by, but some."""
    for key in asked.by:
        if key not in by:
            can = f"can be grouped by {', '.join(by)}" if by else "cannot be grouped"
            raise UsageError(f"{asked.name} {can}, not by {key}")
    for key, _ in asked.request.where:
        if key not in where:
            raise UsageError(f"{asked.name} does not know of any {key}: pick by {', '.join(where)}")


def refuse_people(asked: Asked) -> None:
    """Refuse to tell system users and login nodes apart."""
    for name, wish in (("system", asked.request.system), ("login", asked.request.login)):
        if wish is not None:
            raise UsageError(f"{asked.name} is of all users and nodes together: leave out --{name}")


def placed(rows: ir.Table) -> ir.Table:
    """Add the file system and the kind that the target's name tells."""
    target = rows.target
    filesystem = ibis.ifelse(target.re_search(_NAME), target.re_replace(_NAME, ""), "")
    return rows.mutate(
        filesystem=filesystem, kind=ibis.ifelse(target.contains("-OST"), "ost", "mdt")
    )


def picked(rows: ir.Table, where: Mapping[str, Sequence[str]]) -> ir.Table:
    """Return the rows that fit all patterns."""
    conditions = [matches(rows[key], patterns) for key, patterns in where.items()]
    return rows.filter(*conditions) if conditions else rows
