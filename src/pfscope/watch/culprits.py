"""Who is behind a group of changes, and what they do: asked of the query layer."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pfscope.errors import UsageError
from pfscope.query.data import Data
from pfscope.watch.archetype import Pattern
from pfscope.watch.grouping import Group
from pfscope.watch.model import Cause

LOOK_US: Final = 1800 * 10**6
"""So much of a change is looked at, from its start: who began it stands out there."""
MINUTE_US: Final = 60_000_000
_WHOLE: Final = 0.8
"""A job or node that makes up so much of a user's part stands for it."""
_MOST: Final = 5


def span(group: Group, until_us: int) -> dict[str, Any]:
    """Return the period of a group that is looked at, as words of a question.

    It is whole minutes long: questions of equal lengths are compiled once.
    """
    end = min(group.end_us or until_us, group.start_us + LOOK_US, until_us)
    minutes = max((end - group.start_us) // MINUTE_US, 1)
    return {
        "start": _moment(group.start_us), "end": _moment(group.start_us + minutes * MINUTE_US)
    }  # fmt: skip


def causes(data: Data, group: Group, until_us: int) -> tuple[Cause, ...]:
    """Return the users behind an increase, each as narrow as the data says; strongest first."""
    if group.of_data:
        return ()
    words: dict[str, Any] = {
        "operation": group.lead.signal.measure,
        "target": list(group.targets) or None,
        "filesystem": group.filesystem,
        **span(group, until_us),
    }
    try:
        found = data.causes(by="user", baseline="3h", limit=_MOST, **words)
    except UsageError:  # it began with the data: there is no past to compare it with
        return ()
    explained = found.about.get("named", {}).get("explained", 0.0)
    rows = found.to_pylist()
    return tuple(_narrowed(data, row, words, explained) for row in rows)


def _narrowed(data: Data, row: dict[str, Any], words: dict[str, Any], explained: float) -> Cause:
    user, share = row["user"], row["share"]
    if user is None:
        return Cause(None, None, None, None, share, 0.0)
    alone = {
        key: _alone(data.top(by=key, limit=2, user=user, **words).to_pylist(), key)
        for key in ("job", "node", "executable")
    }
    confidence = min(share, 1.0) * min(explained, 1.0)
    return Cause(user, alone["job"], alone["node"], alone["executable"], share, confidence)


def _alone(rows: Sequence[dict[str, Any]], key: str) -> str | None:
    """Return the one that makes up nearly all, if there is one."""
    return rows[0][key] if rows and rows[0]["share"] >= _WHOLE else None


def pattern(data: Data, group: Group, cause: Cause | None, until_us: int) -> Pattern:
    """Return what the main cause did meanwhile; without one, what everybody did."""
    who: dict[str, Any] = {"filesystem": group.filesystem, **span(group, until_us)}
    if cause and cause.user:
        who |= {"user": cause.user} | ({"job": cause.job} if cause.job else {})
    requests = {
        row["operation"]: row["rate_mean"]
        for row in data.top(by="operation", operation="iops", limit=100, **who).to_pylist()
    }
    carried = {name: _total(data, name, who) for name in ("read_bytes", "write_bytes")}
    on = data.top(by="target", operation="bytes", kind="ost", limit=1000, **who).to_pylist()
    nodes = data.top(by="node", operation="iops", node="*", limit=1000, **who)
    names = data.top(by="executable", executable="*", limit=3, **who).to_pylist()
    return Pattern(
        requests, carried["read_bytes"], carried["write_bytes"],
        busiest=on[0]["share"] if on else 0.0,
        targets=_osts(data, group, until_us),
        nodes=len(nodes),
        executables=tuple(row["executable"] for row in names),
    )  # fmt: skip


def _total(data: Data, operation: str, who: dict[str, Any]) -> float:
    try:
        rows = data.top(by="filesystem", operation=operation, **who).to_pylist()
    except UsageError:  # no target has ever told of it
        return 0.0
    return float(rows[0]["rate_mean"]) if rows else 0.0


def _osts(data: Data, group: Group, until_us: int) -> int:
    """Return how many OSTs of the file system were in use."""
    found = data.top(
        by="target", kind="ost", filesystem=group.filesystem, limit=10_000, **span(group, until_us)
    )
    return len(found)


def _moment(time_us: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time_us)
