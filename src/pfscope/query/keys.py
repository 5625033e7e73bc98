"""By whom: the columns by which usage is grouped and filtered, and how text picks among them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

import ibis
import ibis.expr.types as ir

from pfscope.errors import UsageError
from pfscope.query.key_names import KEYS as KEYS
from pfscope.query.tables import table

_SCHEDULED: Final = ("project", "partition")
"""What only the scheduler knows."""
NUMBER = re.compile(r"-?[0-9]{1,18}")
WILD = re.compile(r"[*?\[]")


def check(keys: Sequence[str]) -> tuple[str, ...]:
    """Return keys of which each is known and stands once."""
    for key in keys:
        if key not in KEYS:
            near = get_close_matches(key, KEYS, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(KEYS)}"
            raise UsageError(f"usage cannot be grouped by {key!r}; {hint}")
        if keys.count(key) > 1:
            raise UsageError(f"{key!r} stands twice in what to group by")
    return tuple(keys)


def who(keys: Iterable[str]) -> ir.Table:
    """Return all series with some keys as columns, and what filters need."""
    wanted = set(keys) - {"server", "operation"}
    series = table("series")
    if wanted & {*_SCHEDULED, "group"}:
        series = _with_jobs(series)
    names = {"array": "array_job"}
    columns: dict[str, Any] = {key: series[names.get(key, key)] for key in sorted(wanted)}
    return series.select(series=series.series, **columns)


def matches(column: ir.Column, patterns: Sequence[str]) -> ir.BooleanValue:
    """Tell which values fit: any of the patterns, and none of those that begin with `!`.

    A pattern is a glob, or a range `LOW..HIGH`, of numbers where both ends are.
    """
    wanted = [_fits(column, p) for p in patterns if not p.startswith("!")]
    unwanted = [_fits(column, p[1:]) for p in patterns if p.startswith("!")]
    found = ibis.or_(*wanted) if wanted else ibis.literal(True)
    for unfit in unwanted:
        found &= ~unfit.fill_null(False)
    return found


def _fits(column: ir.Column, pattern: str) -> Any:
    low, between, high = pattern.partition("..")
    if between and low and high:
        if NUMBER.fullmatch(low) and NUMBER.fullmatch(high):
            digits = column.re_search(f"^{NUMBER.pattern}$")
            number = digits.ifelse(column, ibis.null("string")).cast("int64")
            return number.between(int(low), int(high))
        return column.between(low, high)
    if not WILD.search(pattern):
        return column == pattern
    return column.re_search(regex(pattern))


def regex(glob: str) -> str:
    """Return a glob as what the regular expressions of all engines have in common."""
    pieces = re.findall(r"\[!?\]?[^\]]*\]|.", glob)
    return "^" + "".join(_piece(piece) for piece in pieces) + "$"


def _piece(piece: str) -> str:
    if piece in ("*", "?"):
        return {"*": ".*", "?": "."}[piece]
    if len(piece) == 1:
        return re.escape(piece)
    negated = piece[1] == "!"
    members = re.sub(r"([\\\[\]^])", r"\\\1", piece[2 if negated else 1 : -1])
    return f"[{'^' if negated else ''}{members}]"


def on_login_nodes(series: ir.Table, patterns: Sequence[str]) -> ir.BooleanValue:
    """Tell which series are of login nodes: by name, or as ids that tell a program and no job.

    Such ids come from nodes without a scheduler, where clients name the process instead.
    """
    by_id = series.node.isnull() & series.job.isnull() & series.executable.notnull()
    if not patterns:
        return by_id
    return by_id | matches(series.node, patterns).fill_null(False)


def _with_jobs(series: ir.Table) -> ir.Table:
    jobs = table("jobs")
    age = ibis.row_number().over(group_by=jobs.job, order_by=jobs.recorded.desc())
    latest = jobs.mutate(age=age).filter(ibis._.age == 0)
    known = latest.select("job", "project", "partition", of_group=latest.group)
    joined = series.left_join(known, "job")
    return joined.mutate(group=ibis.coalesce(joined.group, joined.of_group))


def defaults(where: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return filters by key, those that are empty left out."""
    return {key: tuple(values) for key, values in where.items() if values}
